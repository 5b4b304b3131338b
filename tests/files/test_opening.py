import os

import pytest

from tiedviz.files.access import open_weights, read_exactly, refuse_other_content
from tiedviz.words.refusals.file import FileRefusal

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 548105171\n"


def test_a_file_is_read_at_any_place(build):
    path = build.file("x.bin", b"0123456789")
    with open_weights(path) as (read, size):
        assert size == 10
        assert read(3, 4) == b"3456"
        assert read(8, 99) == b"89"


def test_what_ends_too_early_is_truncated(counted):
    read = counted(b"12345")
    with pytest.raises(FileRefusal, match="describes 9 bytes and the file has 5"):
        read_exactly(read, 3, 6, "x", 5)
    assert read.asked == 0  # the size alone says it


def test_a_file_that_shrinks_while_it_is_read_is_truncated(counted):
    with pytest.raises(FileRefusal, match="describes 9 bytes and the file has 5"):
        read_exactly(counted(b"12345"), 0, 9, "x", 9)


def test_a_missing_file_a_folder_a_dead_link_and_a_pipe_are_told_apart(build):
    with pytest.raises(FileRefusal, match="no such file"), open_weights(build.folder / "no"):
        pass
    with pytest.raises(FileRefusal, match="not an ordinary file"), open_weights(build.folder):
        pass
    (build.folder / "link").symlink_to("gone")
    dead = pytest.raises(FileRefusal, match="a link to a file that is not there")
    with dead, open_weights(build.folder / "link"):
        pass
    os.mkfifo(build.folder / "pipe")
    with pytest.raises(FileRefusal, match="not an ordinary"), open_weights(build.folder / "pipe"):
        pass


def test_a_name_too_long_for_the_system_is_refused_in_words(build):
    with (
        pytest.raises(
            FileRefusal, match="Check that the file is there and that this app may read it"
        ),
        open_weights(build.folder / ("x" * 5000)),
    ):
        pass


@pytest.mark.parametrize(
    ("content", "cause", "says"),
    [
        (b"", "the download did not finish", "the file is empty"),
        (bytes(5000), "the download did not finish", "first bytes are zero"),
        (POINTER, "Git LFS pointer", "548,105,171 bytes.*git lfs pull"),
        (b"version https://git-lfs", "Git LFS pointer", "not the file itself"),
        (b"\n <!DOCTYPE html><html>", "this is a web page", "web page.*/resolve/"),
        (b"\xef\xbb\xbf<html lang=en>", "this is a web page", "web page"),
        (b"PK\x03\x04....", "but the content is", "the content is a zip archive"),
        (b"GGUF\x03\x00", "but the content is", "the content is GGUF"),
        (b"\x89HDF\r\n", "but the content is", "HDF5"),
        (b"\x80\x04\x95", "but the content is", "a pickle"),
    ],
)
def test_first_bytes_betray_another_content(content, cause, says):
    with pytest.raises(FileRefusal, match=f"(?=.*{cause}).*{says}"):
        refuse_other_content(content, len(content), "model.safetensors", "safetensors")


def test_bytes_that_betray_nothing_pass():
    refuse_other_content(b"anything else", 13, "x", "safetensors")
