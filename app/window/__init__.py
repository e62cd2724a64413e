"""The main window: puts the parts side by side and joins their signals to the engine's bridge."""

from app.window.main import MainWindow

__all__ = ["MainWindow"]
