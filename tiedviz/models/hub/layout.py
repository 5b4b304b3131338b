"""How a repository is laid out: which of its files a model is opened from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tiedviz.words.refusals.hub import NothingToOpen

CONFIG = "config.json"
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
        hashes: SHA-256 of the large files, as the Hub publishes them.
    """

    repo: str
    commit: str
    sizes: dict[str, int]
    revision: str = "main"
    hashes: dict[str, str] = field(default_factory=dict)

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
            found = sorted(name for name in self.sizes if shards.fullmatch(name))
            if f"{stem}.{end}.index.json" in self.sizes and found:
                return found
        raise NothingToOpen(self.repo, sorted(self.sizes))

    @property
    def index(self) -> str | None:
        """The name of the shard index, if the weights are cut into shards."""
        [kind] = {name.rsplit(".", 1)[1] for name in self.weights}
        name = (
            "model.safetensors" if kind == "safetensors" else "pytorch_model.bin"
        ) + ".index.json"
        return name if name in self.sizes else None

    def check(self) -> None:
        """Nothing, or a refusal where the repository cannot be a model as it is laid out.

        Raises:
            NothingToOpen: it has no weights, or no config.json beside them.
        """
        if self.weights and CONFIG not in self.sizes:
            raise NothingToOpen(self.repo, sorted(self.sizes), lacks=CONFIG)

    @property
    def needed(self) -> list[str]:
        """All files that opening the model takes, the small ones first."""
        small = [CONFIG, *([self.index] if self.index else [])]
        here = [name for name in self.sizes if "/" not in name and "\\" not in name]
        small += [name for name in here if _TOKENIZER_FILES.fullmatch(name)]
        return [name for name in dict.fromkeys(small) if name in self.sizes] + self.weights

    def size_of(self, names: Iterable[str]) -> int:
        """Bytes of these files together."""
        return sum(self.sizes[name] for name in names)
