"""`kill -9` at a chosen moment of some work."""

import os
import signal


class KilledAtStep:
    """Counts the moments before and after every change on disk and on the card, and dies at one of them."""

    def __init__(self, step):
        self.left = step

    def __call__(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner, name):
        real = getattr(owner, name)

        def stepped(*args, **kwargs):
            self()
            result = real(*args, **kwargs)
            self()
            return result

        setattr(owner, name, stepped)


def is_killed_in(work):
    """Do the work in a process of its own; say whether a signal ended it."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    try:
        work()
    finally:
        os._exit(0)
