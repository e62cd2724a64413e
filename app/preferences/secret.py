"""What is typed and not shown: a field of dots, and the button that shows what stands there."""

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme.controls import Field, IconButton

_HINTS = (
    Qt.InputMethodHint.ImhSensitiveData
    | Qt.InputMethodHint.ImhNoPredictiveText
    | Qt.InputMethodHint.ImhNoAutoUppercase
)


class Reveal(IconButton):
    """Has a field show dots, or, while it is checked, what stands there."""

    def __init__(self, field: Field, parent: QWidget) -> None:
        super().__init__("eye", "", parent, size=32, icon_size=18)
        self._field = field
        field.setInputMethodHints(field.inputMethodHints() | _HINTS)
        self.setCheckable(True)
        self.toggled.connect(self._show)
        self._show(False)

    def _show(self, shown: bool) -> None:  # noqa: FBT001  # a slot of a bool signal
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self._field.setEchoMode(mode)
        self.set_icon("eye-off" if shown else "eye")
        words = (
            QCoreApplication.translate("Preferences", "Hide {}")
            if shown
            else QCoreApplication.translate("Preferences", "Show {}")
        )
        self.set_name(words.format(self._field.accessibleName()))
