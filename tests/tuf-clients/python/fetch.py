"""python-tuf, unmodified, as a client of Launchway: fetch.py URL ROOT TARGET FOLDER.

Trusts the file ROOT, refreshes from the repository at URL, and downloads TARGET to FOLDER/update.zip. A refusal ends it
with the name of the error."""

import sys
from pathlib import Path

from tuf.ngclient import Updater

url, root, target, folder = sys.argv[1:]
metadata = Path(folder) / "metadata"
metadata.mkdir(parents=True, exist_ok=True)
try:
    updater = Updater(
        str(metadata),
        f"{url}/",
        target_base_url=f"{url}/targets/",
        bootstrap=Path(root).read_bytes(),
    )
    updater.refresh()
    found = updater.get_targetinfo(target)
    if found is None:
        sys.exit("no such target")
    updater.download_target(found, str(Path(folder) / "update.zip"))
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
