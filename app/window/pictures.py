"""Pictures of the draft and of messages: taken in, kept, seen large, copied, saved."""

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from app.client import Conversation, DraftImages, WindowKnown
from app.image_viewer import ImageViewer
from app.items import UserItem
from app.pictures import decode
from app.theme.controls import PopupMenu
from app.typed import AttachedImage
from app.window.library import Library
from engine.transcript import Image

OPEN = "open_image:"
"""How the action of a message's picture begins; its number follows."""
_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif"}


class Pictures(Library):
    """What is pasted, and what can be done with pictures that were sent."""

    def begin_pictures(self) -> None:
        """Join the composer; once, when the window is made."""
        composer = self.parts.composer
        composer.submitted_with.connect(self._submit_with)
        composer.image_pasted.connect(self._take_pasted)
        composer.images_changed.connect(self._keep_images)
        composer.pictures.model_requested.connect(self.show_models)

    # -- the draft's -----------------------------------------------------------------------

    def _show(self, conversation: Conversation) -> None:
        super()._show(conversation)
        self.parts.composer.pictures.set_images(conversation.images)

    def _show_window(self, known: WindowKnown) -> None:
        super()._show_window(known)
        self.parts.composer.pictures.set_sight(known.sees_images)
        self.parts.transcript.set_sight(known.sees_images)

    def _take_pasted(self, picture: QImage) -> None:
        """A picture of the clipboard is made ready in the background."""
        here, number = self._id, len(self.parts.composer.pictures.images) + 1
        name = self.tr("Pasted image {number}.png").format(number=number)
        self._bridge.ask(
            lambda c: c.images.prepare(picture, name),
            lambda attached: self._add_picture(here, attached),
        )

    def _add_picture(self, conversation: str, attached: AttachedImage) -> None:
        """Add a picture that was read to the draft it was meant for, if that is still shown."""
        if conversation != self._id:
            return
        self.parts.composer.pictures.add(attached)
        self._keep_images(self.parts.composer.pictures.images)
        self._focus_composer()

    def _keep_images(self, images: tuple[AttachedImage, ...]) -> None:
        here = self._id
        self._bridge.ask(lambda c: c.images.keep(here, images))

    def _show_draft_images(self, draft: DraftImages) -> None:
        """What waited was handed back, or the draft's pictures were sent by other ways."""
        if draft.id == self._id:
            self.parts.composer.pictures.set_images(draft.images)

    def _submit_with(self, text: str, images: tuple[AttachedImage, ...]) -> None:
        here, model = self._id, self._model
        self._bridge.ask(lambda c: c.send(here or None, text, model, images), self._sent)

    # -- those of messages -----------------------------------------------------------------

    def _act_on_item(self, item_id: str, action: str) -> None:
        image = self._image(item_id, action)
        if image is None:
            super()._act_on_item(item_id, action)
        else:
            self._open_image(image)

    def _image(self, item_id: str, action: str) -> Image | None:
        """The picture that an action of an item is about."""
        item, number = self._item(item_id), action.removeprefix(OPEN)
        if not action.startswith(OPEN) or not number.isdecimal():
            return None
        images = item.images if isinstance(item, UserItem) else ()
        return images[int(number)] if int(number) < len(images) else None

    def _show_item_menu(self, item_id: str, place: QPoint) -> None:
        view = self.parts.transcript
        image, view.menu_part = self._image(item_id, view.menu_part), ""
        if image is None:
            super()._show_item_menu(item_id, place)
            return
        menu = PopupMenu("", self)
        menu.addAction(self.tr("Open image"), lambda: self._open_image(image))
        self._add_image_actions(menu, image)
        menu.popup(place)

    def _open_image(self, image: Image) -> None:
        viewer = ImageViewer(image, self)
        viewer.menu_requested.connect(lambda place: self._show_image_menu(viewer, place))
        viewer.show()

    def _show_image_menu(self, viewer: ImageViewer, place: QPoint) -> None:
        menu = PopupMenu("", viewer)
        self._add_image_actions(menu, viewer.image)
        menu.popup(place)

    def _add_image_actions(self, menu: PopupMenu, image: Image) -> None:
        menu.addAction(self.tr("Copy image"), lambda: _copy(image))
        menu.addAction(self.tr("Save image as…"), lambda: self._save_image(image))

    def _save_image(self, image: Image) -> None:
        suffix = _SUFFIXES.get(image.mime, ".png")
        name = Path(image.name or self.tr("Image")).stem + suffix
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save image"), name)
        if path:
            self._bridge.ask(
                lambda c: c.images.save(image, path),
                lambda _: self.say(self.tr("Saved to {}").format(path)),
            )


def _copy(image: Image) -> None:
    picture = decode(image)
    if not picture.isNull():
        QGuiApplication.clipboard().setImage(picture)
