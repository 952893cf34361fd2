"""npm packages that tests need, by the lock file beside them, installed once for all test processes."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path


def installed_packages(folder: Path) -> Path:
    """The `node_modules` of `folder`, as its package-lock.json says."""
    modules = folder / "node_modules"
    locked = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    stamp = modules / "installed"
    with (folder / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != locked:
            # Not `npm ci`: it fails on an optional package that exists for another system only.
            words = [str(shutil.which("npm")), "install", "--no-save", "--no-audit", "--no-fund"]
            ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
            assert ran.returncode == 0, ran.stderr
            stamp.write_text(locked)
    return modules
