"""What a rerun of a failed test (tests/CMakeLists.txt, --reruns) needs; tests/conftest.py calls it.

pytest-rerunfailures sets up only function fixtures again. A test of a fixture that measured once for a module or session
would judge the same measurement three times, so it is measured again for a rerun. The plugin also drops the finalizers of
the module and the session, and with them servers and directories of fixtures that no later test uses.
"""


def measures(fixture):
    """Put below @pytest.fixture of a module or session fixture that measures: a rerun measures again."""
    fixture.measures = True
    return fixture


def attempt(item):
    """1, or more for a rerun."""
    return getattr(item, "execution_count", 1)


def after_teardown(item):
    """Remembers the table of what is set up, with the finalizers; the plugin puts an empty one into its place."""
    item.set_up = item.session._setupstate.stack


def before_setup(item):
    if attempt(item) == 1:
        return
    # Before pytest 7 the table has no finalizers, and none is lost. A module whose own set-up failed is set up again instead.
    if isinstance(item.set_up, dict) and not any(failure for _, failure in item.set_up.values()):
        item.session._setupstate.stack = item.set_up
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        for definition in definitions:
            if getattr(definition.func, "measures", False) and definition.cached_result is not None:
                definition.finish(item._request)
