"""Files that are whole or absent."""

import os
import stat

import pytest

import plurank
from plurank import Comparisons, DataError, SingleRanking


def test_a_pipe_or_a_device_is_never_replaced_by_a_file(tmp_path):
    model = SingleRanking().fit(Comparisons.from_arrays([1], ["a"], ["b"]))
    pipe = tmp_path / "pipe.svg"
    os.mkfifo(pipe)
    link = tmp_path / "link.svg"
    link.symlink_to(pipe)
    for target in (pipe, link):
        for write in (
            model.save,
            lambda path: plurank.write_report(model, path),
            lambda path: plurank.save_figure(model.plot.rankings(), path),
            lambda path: model.write_weights(Comparisons.from_arrays([1], ["a"], ["b"]), path),
        ):
            with pytest.raises(DataError, match="is not a file that can be replaced"):
                write(target)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.svg", "pipe.svg"]
