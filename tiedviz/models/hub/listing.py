"""What a repository on the Hub holds: its commit, its files and their sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi

from tiedviz.models.hub.address import TIMEOUT, cache_folder, endpoint, offline
from tiedviz.models.hub.asking import hub_errors
from tiedviz.words.hub_refusals import HubOffline, NothingToOpen

_CONFIG = "config.json"
_TOKENIZER_FILES = re.compile(
    r"tokenizer.*\.json|tokenizer\.model|vocab\.(json|txt|bpe)|merges\.txt|.*\.spm|spiece\.model"
    r"|sentencepiece.*\.model|special_tokens_map\.json|added_tokens\.json|chat_template\.jinja"
    r"|generation_config\.json|encoder\.json|bpe\.codes|dict\.txt"
)


@dataclass(frozen=True)
class Listing:
    """A repository at one commit.

    Attributes:
        repo: its id.
        commit: the commit that the revision names now.
        sizes: bytes of each file.
        revision: the branch, tag or commit that was asked for.
    """

    repo: str
    commit: str
    sizes: dict[str, int]
    revision: str = "main"

    @property
    def weights(self) -> list[str]:
        """The weight files that transformers would open, safetensors before pickled ones.

        Raises:
            NothingToOpen: there are none.
        """
        for stem, end in (("model", "safetensors"), ("pytorch_model", "bin")):
            if f"{stem}.{end}" in self.sizes:
                return [f"{stem}.{end}"]
            shards = re.compile(rf"{stem}-\d+-of-\d+\.{end}")
            if f"{stem}.{end}.index.json" in self.sizes:
                return sorted(name for name in self.sizes if shards.fullmatch(name))
        raise NothingToOpen(self.repo, sorted(self.sizes))

    @property
    def index(self) -> str | None:
        """The name of the shard index, if the weights are cut into shards."""
        [kind] = {name.rsplit(".", 1)[1] for name in self.weights}
        name = (
            "model.safetensors" if kind == "safetensors" else "pytorch_model.bin"
        ) + ".index.json"
        return name if name in self.sizes else None

    @property
    def needed(self) -> list[str]:
        """All files that opening the model takes, the small ones first."""
        small = [_CONFIG, *([self.index] if self.index else [])]
        small += [name for name in self.sizes if _TOKENIZER_FILES.fullmatch(name)]
        return [name for name in dict.fromkeys(small) if name in self.sizes] + self.weights

    def size_of(self, names: Iterable[str]) -> int:
        """Bytes of these files together."""
        return sum(self.sizes[name] for name in names)


def list_repository(repo: str, revision: str | None = None) -> Listing:
    """What the Hub holds under this name now.

    Raises:
        HubRefusal: one of its kinds; within a few seconds.
    """
    if offline():
        raise HubOffline(repo)
    with hub_errors(repo, revision):
        info = HfApi(endpoint=endpoint()).model_info(
            repo, revision=revision, files_metadata=True, timeout=TIMEOUT
        )
        sizes = {entry.rfilename: int(entry.size or 0) for entry in info.siblings or []}
        return Listing(repo, str(info.sha), sizes, revision or "main")


def cached_snapshot(repo: str, revision: str | None = None) -> Path | None:
    """The folder of a complete copy in the cache, or None. Asks nobody.

    Complete means: the files that its own index, or the layout of one file, names are there.
    """
    reference = _reference(repo, revision or "main")
    commit = reference.read_text().strip() if reference.is_file() else revision or ""
    snapshot = _storage(repo) / "snapshots" / commit
    if not commit or not (snapshot / _CONFIG).is_file():
        return None
    found = Listing(repo, commit, {path.name: 0 for path in snapshot.iterdir() if path.exists()})
    try:
        weights = found.weights
    except NothingToOpen:
        return None
    return snapshot if weights and _shards_complete(snapshot, found) else None


def remember_revision(listing: Listing) -> None:
    """Write down which commit the revision meant, so that it is found again without the Hub.

    The Hub's client does so only when it downloads by the revision's name, during which the
    branch could move.
    """
    reference = _reference(listing.repo, listing.revision)
    reference.parent.mkdir(parents=True, exist_ok=True)
    reference.write_text(listing.commit)


def _storage(repo: str) -> Path:
    """The repository's folder in the cache, as the Hub's client lays it out."""
    return cache_folder() / f"models--{repo.replace('/', '--')}"


def _reference(repo: str, revision: str) -> Path:
    return _storage(repo) / "refs" / revision


def _shards_complete(snapshot: Path, found: Listing) -> bool:
    """Whether every shard is there; the names say how many there should be."""
    weights = found.weights
    if found.index is None:
        return True
    promised = re.search(r"-of-(\d+)\.", weights[0])
    return promised is not None and len(weights) == int(promised[1])
