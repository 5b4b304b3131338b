import pytest

from tiedviz.files.config import adapter_base, list_names, refuse_not_a_model
from tiedviz.words.refusals.file import FileRefusal


def test_names_are_sorted_and_dead_links_are_names_too(build):
    build.file("b")
    build.file("a")
    (build.folder / "c").symlink_to("gone")
    assert list_names(build.folder) == ("a", "b", "c")


def test_a_missing_folder_and_a_file_are_told_apart(build):
    with pytest.raises(FileRefusal, match="there is no such file or folder"):
        list_names(build.folder / "no")
    with pytest.raises(
        FileRefusal, match="Check that the file is there and that this app may read it"
    ):
        list_names(build.file("a"))


def test_the_base_of_an_adapter_is_named(build):
    build.file("adapter_config.json", b'{"base_model_name_or_path": "org/base"}')
    assert adapter_base(build.folder) == "org/base"
    with pytest.raises(FileRefusal, match=r"adapter for org/base.*open org/base"):
        refuse_not_a_model(build.folder, list_names(build.folder))


@pytest.mark.parametrize("text", [b"{}", b"{", b"[]", b'{"base_model_name_or_path": 3}'])
def test_an_adapter_that_does_not_name_its_base_is_still_an_adapter(build, text):
    build.file("adapter_config.json", text)
    assert adapter_base(build.folder) is None
    with pytest.raises(FileRefusal, match="the model it was trained on"):
        refuse_not_a_model(build.folder, list_names(build.folder))


def test_a_folder_that_is_no_model_says_what_it_holds(build):
    with pytest.raises(FileRefusal, match=r"no config.json; it is empty"):
        refuse_not_a_model(build.folder, ())
    names = tuple(f"photo{i}.png" for i in range(20))
    with pytest.raises(FileRefusal, match=r"holds photo0.png, .*photo7.png and 12 more"):
        refuse_not_a_model(build.folder, names)


def test_a_folder_with_a_config_is_not_refused(build):
    refuse_not_a_model(build.folder, ("config.json",))
