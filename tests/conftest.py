"""Options of all tests: expected text (`--golden`), how many cases run (`--full`)."""

from __future__ import annotations

import compileall
import datetime
import gc
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lacking import stand_in_for_lacking

os.environ["TRACEJIT_CACHE"] = "0"  # no test finds what another run has compiled
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of BLAS that wait keep cores busy


SAMPLE = 1
"""How many cases of one parametrised test of the gauntlet `make test` runs: others tomorrow."""

DRAWN = {
    "test_stiff_odes.py::test_robertsons_sensitivities_are_differences_of_tight_solutions": 1,
    "test_stiff_odes.py::test_derivatives_by_ends_and_times_are_right": 1,
    "test_ode_events.py::test_events_are_scipys": 1,
    "test_ode_events.py::test_dense_output_is_scipys_and_has_derivatives": 1,
    "test_superlu.py::test_nothing_is_dense": 1,
    **{f"test_codes.py::{name}": 4 for name in (
        "test_the_program_of_a_page_is_refused_with_its_code",
        "test_the_other_program_of_a_page_runs")},
    "test_without_analyses.py::test_without_an_analysis_results_agree": 4,
    "test_superlu.py::test_values_are_scipys_and_derivatives_those_of_a_dense_matrix": 6,
    "test_superlu.py::test_complex_systems_are_those_of_a_dense_matrix": 4,
    "test_gauntlet.py::test_an_answer_is_right_or_there_is_none": 15,
    "test_statistics.py::test_edges_and_errors_are_scipys": 15,
    "test_jacobian_sparsity.py::test_no_element_of_a_random_programs_jacobian_is_missed": 8,
    "test_sparse_jacobians.py::test_it_is_the_jacobian": 8,
    "test_print.py::test_prints_what_python_prints": 8,
    "test_gradients_by_objects.py::test_floats_are_gradients_and_all_else_is_the_objects_own": 15,
    "test_halves.py::test_ufuncs_of_float16_are_numpys": 12,
    "test_halves.py::test_float16_promotes_as_in_numpy": 5,
    "test_halves.py::test_programs_of_float16_are_numpys": 8,
    "test_halves.py::test_gradients_of_float16_are_those_of_float32_rounded": 6,
    "test_series.py::test_functions_are_numpys": 15,
    "test_further_functions.py::test_values_types_and_derivatives_are_scipys": 10,
    "test_further_functions.py::test_second_derivatives_are_differences": 2,
    "test_further_functions.py::test_kernels_have_the_interpreters_values": 1,
    **{f"test_{name}.py::test_values_are_scipys_and_derivatives_differences": 12
       for name in ("pieces", "ranks", "surfaces")},
    **{f"test_{name}.py::test_second_derivatives_are_differences_of_the_first": 1
       for name in ("pieces", "surfaces")},
    "test_reports.py::test_programs_of_the_gallery_show_themselves": 14,
    "test_reports.py::test_programs_of_the_gallery_are_profiled": 2,
    "test_reports.py::test_loops_that_stand_in_the_source_in_parts_name_what_is_in_them": 3,
    "test_searches.py::test_solutions_are_scipys_and_derivatives_differences": 2,
    "test_searches.py::test_what_is_no_solution_is_an_error": 3,
    "test_searches.py::test_what_has_no_derivative_is_refused": 5,
    "test_solutions.py::test_derivatives_are_those_of_differences": 3,
    "test_solutions.py::test_without_a_solution_or_a_derivative_it_is_an_error": 2,
    "test_solutions.py::test_it_is_part_of_loops_branches_and_vmap": 1,
    "test_pure_callback.py::test_compiled_code_calls_as_python_does": 14,
    "test_solutions.py::test_a_search_that_ends_early_is_an_error": 4,
    "test_solutions.py::test_linear_systems_have_their_derivatives": 1,
    "test_extrema.py::test_the_first_extremum_has_the_whole_derivative": 6,
    "test_programs_as_they_are.py::test_programs_are_compiled_once": 5,
    "test_gallery.py::test_compiled_once_for_all_sizes": 8,
    "test_examples_by_field.py::test_answers_are_known_ones_and_gradients_those_of_differences": 3,
    "test_second_derivatives.py::test_second_derivatives_of_special_functions_are_differences": 8,
    "test_distributions.py::test_inside_values_and_derivatives_are_scipys": 10,
    "test_distributions.py::test_outside_and_of_wrong_parameters_values_are_scipys": 12,
    "test_moments.py::test_moments_are_scipys": 8,
    "test_moments.py::test_their_derivatives_are_differences": 6,
    "test_quadrature.py::test_estimates_and_steps_are_scipys": 1,
    "test_quadrature.py::test_the_derivative_has_intervals_of_its_own": 2,
    "test_quadrature.py::test_a_derivative_that_cannot_be_integrated_is_an_error": 1,
    "test_order_alone.py::test_small_changes_that_keep_the_order_change_nothing": 4,
    "test_quadrature.py::test_integrals_are_scipys_and_derivatives_are_right": 2,
    "test_further_distributions.py::test_studentized_ranges_are_scipys": 1,
    "test_second_derivatives.py::test_second_derivatives_of_distributions_are_differences": 3,
    "test_special_values.py::test_carlsons_integrals_of_equal_numbers_have_eulers_derivatives": 2,
    "test_items_of_users_objects.py::"
    "test_items_are_pythons_or_the_program_is_refused": 1,
    "test_state_of_libraries.py::test_after_a_change": 1,
    "test_heaps_and_orders.py::test_values_and_derivatives": 1,
    "test_repeated_integrals.py::test_integrals_are_scipys_and_derivatives_are_right": 2,
    "test_repeated_integrals.py::test_kernels_compute_the_same_integrals": 1,
    "test_bounded_searches.py::test_solutions_are_scipys_and_derivatives_are_right": 2,
    "test_linear_fits.py::test_fits_are_scipys_and_derivatives_are_right": 1,
    "test_product_factors.py::test_two_parts_are_a_product": 12,
    "test_product_factors.py::test_parts_are_read_where_they_lie": 8,
    "test_product_factors.py::test_arrays_that_change_are_read_as_they_were": 6,
    "test_writes_beside_reads.py::test_values_and_slopes_are_numpys": 6,
    "test_nested_calls.py::test_other_nests_are_told_apart": 24,
    "test_size_bounds.py::test_bounds_are_reached_and_not_crossed": 5,
    "test_stored_library_code.py::test_programs_of_roots_and_integrals_are_kept": 1,
    "test_leaks_in_nested_calls.py::test_second_derivatives": 1,
    "test_leaks_in_nested_calls.py::test_derivatives_within_programs_are_those_outside": 1,
    "test_lists_chosen_by_data.py::test_compiled": 1,
    "test_recursion_on_data.py::test_recursions_are_right": 1,
    "test_memory_held.py::"
    "test_a_while_can_be_gone_back_through_any_number_of_times": 1,
    "test_threads.py::test_programs_of_the_gallery_in_every_order": 3,
    "test_threads.py::test_bits_are_the_same_for_all_numbers_of_threads_and_orders": 6,
    "test_discrete_fourier.py::test_transforms_are_as_exact_as_passes_are": 5,
    "test_discrete_fourier.py::test_ways_back_are_the_adjoints": 5,
    "test_matrix_products.py::test_values_and_derivatives_are_einsums": 8,
    "test_rows_written_in_place.py::test_values_and_derivatives": 6,
    "test_inductions.py::test_counting_is_pythons": 12,
    "test_solvers.py::test_hessp_is_the_hessian_times_a_direction": 2,
    "test_solvers.py::test_scipy_minimises_with_it": 1,
    "test_solvers.py::test_the_operator_is_the_jacobian": 3,
    "test_finals.py::test_gradients_are_complex_steps": 12,
    "test_inductions.py::test_derivatives_after_counting_are_those_of_a_linear_function": 5,
    "test_to_numba.py::test_a_module_has_the_bits_of_the_program": 2,
    "test_to_numba.py::test_functions_of_each_kind": 2,
    "test_translation.py::test_golden_programs_compute_what_their_source_does": 4,
    "test_translation.py::test_ops_compute_what_their_source_does": 3,
    "test_op_kernels.py::test_kernel_computes_what_the_interpreter_does": 5,
    "test_cuda.py::test_programs_of_the_gallery_are_what_they_are_on_the_cpu": 1,
    "test_cuda.py::test_every_op_is_what_the_interpreter_says": 1,
    "test_cuda.py::test_every_op_compiles_to_ptx": 1,
    "test_cuda.py::test_benchmarks_compile_to_ptx_without_spills": 1,
    "test_cuda.py::test_laws": 1,
    "test_cuda.py::test_teams_and_products_compile_to_ptx_without_spills": 1,
    "test_further_distributions.py::test_densities_are_the_slopes_of_shares": 3,
    "test_further_distributions.py::test_values_are_mpmaths": 8,
    "test_rotations.py::test_second_derivatives_are_differences_of_first_ones": 6,
    "test_loop_exits.py::test_loops_are_left_as_in_python": 20,
    "test_transforms_on_tapes.py::test_a_transform_of_recorded_values_is_that_of_numbers": 20,
    "test_designs.py::test_the_derivative_of_the_gradient_is_the_differences": 4,
    "test_interpolators_made_outside.py::test_values_and_derivatives_are_scipys": 15,
    "test_scipy_stacks.py::test_a_stack_has_the_derivatives_of_differences": 4,
    "test_dump.py::test_a_reproducer_runs_alone": 2,
    "test_cuda.py::test_the_layer_over_the_driver": 1,
    "test_random_programs.py::test_interpreter_computes_what_python_does": 2,
    "test_random_programs.py::test_kernel_computes_what_python_does": 2,
    "test_random_programs.py::test_second_order_and_forward_mode": 2,
    "test_random_programs.py::test_interpreter_computes_what_python_does_on_shared_memory": 2,
    "test_random_programs.py::test_later_calls_compute_what_python_does": 2,
    "test_programs_as_they_are.py::test_programs_are_right": 15,
    "test_gallery.py::test_gradient_is_the_derivative": 40,
    "test_gallery.py::test_tangent_is_the_derivative": 30,
    "test_regressions.py::test_program_obeys_the_laws": 15,
    "test_rotations.py::test_values_are_scipys_and_derivatives_differences": 12,
    "test_roots.py::test_roots_are_scipys_and_derivatives_are_differences": 3,
    "test_aliases.py::test_random_programs_are_right_or_refused": 3,
    "test_ops.py::test_the_pullback_has_derivatives_too": 25,
    "test_fast_guards.py::test_a_change_is_seen_by_the_fast_entry": 1,
    "test_interrupts.py::test_ctrl_c_leaves_a_loop_within_a_second": 3,
    "test_special_values.py::test_values_and_two_derivatives_are_mpmaths": 5,
    "test_lists_chosen_by_data.py::test_second_derivatives_are_right": 1,
    "test_lists_chosen_by_data.py::test_values_and_derivatives": 1,
    "test_lists_chosen_by_data.py::test_random_sequences": 1,
    "test_objects_chosen_by_data.py::test_values_and_derivatives": 1,
    "test_nested_transforms.py::test_a_program_nested_is_right_compiled": 1,
    "test_memory_held.py::test_what_is_held_between_calls_is_bounded_and_given_back": 1,
    "test_memory_held.py::test_a_call_gives_back_what_it_took": 1,
    "test_rows_turned_in_nested_loops.py::test_rows_are_pythons_after_few_attempts": 1,
    "test_views_and_copies.py::test_a_write_is_seen_by_the_names_that_see_it_in_numpy": 1,
    "test_state.py::test_bound_to_other_contents_across_processes": 1,
    "test_state.py::test_across_processes": 1,
    "test_export.py::test_special_functions_are_those_of_python": 2,
    "test_artifacts.py::test_a_change_is_a_miss_with_its_reason": 2,
    "test_artifacts.py::test_what_does_not_matter_is_a_hit": 2,
    "test_artifacts.py::test_damage_is_a_miss_with_a_warning": 3,
    "test_augmented.py::test_augmented_assignment_is_numpys": 20,
    "test_checkpointing.py::test_gradients_are_those_without_checkpoints": 2,
    "test_splines.py::test_values_are_scipys_and_derivatives_differences": 12,
    "test_splines.py::test_points_outside_are_scipys": 10,
    "test_numpy_cases.py::test_functions_are_numpys": 250,
    "test_numpy_cases.py::test_ufuncs_are_numpys": 400,
    "test_notebooks.py::test_notebooks_show_what_comes_out": 3,
    "test_numpy_cases.py::test_kernels_compute_it_too": 20,
    "test_scipy_modules.py::test_values_types_and_derivatives_are_scipys": 100,
    "test_costs.py::test_passes_add_no_flops": 8,
    "test_objects_chosen_by_data.py::test_batches_and_second_derivatives": 1,
    "test_objects_chosen_by_data.py::test_pools_from_the_start": 1,
    "test_objects_chosen_by_data.py::test_one_program_for_all_lengths": 2,
    "test_containers.py::test_random_programs_are_right_or_refused": 1,
    "test_state.py::test_what_was_found_stale": 25,
    **dict.fromkeys((
        "test_source_code.py::test_nothing_is_filed_under_code_that_was_not_captured",
        "test_source_code.py::test_cells_of_ipython_are_followed",
        "test_source_code.py::test_optimised_python_is_followed",
        "test_bounded_compilation.py::test_texts_that_get_longer_end_the_capture_of_a_loop",
        "test_distributions_at_seams.py::test_slopes_of_gausshyper_are_differences_of_quadratures",
        "test_fork_and_signals.py::test_a_compilation_ends_with_what_the_handler_raised",
        "test_fork_and_signals.py::test_a_child_forked_in_the_middle_of_a_compilation_compiles",
        "test_scripts_in_workers.py::test_a_worker_finds_what_the_script_has_compiled",
        "test_scripts_in_workers.py::test_another_script_of_equal_names_is_another_one",
        "test_scripts_in_workers.py::test_a_change_in_a_worker_is_seen",
        "test_scripts_in_workers.py::test_processes_that_import_the_script_by_another_name",
        "test_lists_of_known_lengths.py::test_objects_in_lists_are_right",
        "test_lists_of_known_lengths.py::test_loops_stay_loops",
        "test_lists_of_known_lengths.py::test_many_objects_are_gone_through_by_loops",
        "test_keyed_by_data.py::test_random_sequences",
        "test_out_and_where.py::test_ufuncs_take_their_arguments_as_numpys",
        "test_out_and_where.py::test_folds_take_their_arguments_as_numpys",
        "test_sequences_compared.py::test_comparisons_are_pythons",
        "test_lists_in_lists_by_data.py::test_second_derivatives_are_right",
        "test_lists_in_lists_by_data.py::test_programs_are_right",
        "test_store_safety.py::test_where_nothing_is_kept_nothing_is_written",
        "test_library_functions.py::test_numpy_has_to_be_numpy_when_it_is_first_seen",
        "test_objects_chosen_by_data.py::test_compiled",
        "test_heaps_and_orders.py::test_compiled",
        "test_keyed_by_data.py::test_compiled",
        "test_orders_of_objects.py::test_values_and_derivatives",
        "test_recursion_on_data.py::test_recursions_are_right_compiled",
        "test_generators_of_users.py::test_compiled_programs_agree",
        "test_emitted_names.py::test_ops_may_be_called_any_text",
        "test_special_at_seams.py::test_values_are_scipys",
        "test_state.py::test_interpreted",
        "test_finally_on_the_way_to_a_handler.py::test_random_programs_are_right_or_refused",
        "test_finally_on_the_way_to_a_handler.py::test_a_jump_out_of_finally_ends_an_error",
        "test_lists_that_grow_in_a_try.py::test_random_programs_are_right_or_refused",
        "test_fork_and_signals.py::test_a_running_kernel_ends_with_what_the_handler_raised",
    ), 1),  # cases of the gauntlet that take more than a second
    "test_finals.py::test_gradients_by_what_the_array_begins_as_are_complex_steps": 100,
    "test_tape.py::test_functions_on_the_tape_are_numpys": 500,
    "test_dtypes.py::test_results_have_numpys_dtype": 4,
    "test_odes.py::test_an_empty_interval_has_two_columns": 2,
    "test_lanes.py::test_other_transforms_agree": 4,
    "test_keywords.py::test_no_keyword_is_dropped": 300,
    "test_extrema.py::test_equal_extrema_share_the_derivative": 24,
    "test_docs.py::test_programs_print_what_the_page_says": 18,
    "test_scipy_stacks.py::test_compiled_stacks_are_those_of_a_loop": 2,
    "test_bessel_near_zero.py::test_values_and_slopes_next_to_zero": 2,
    "test_complex_mathematics.py::test_derivatives_are_those_of_differences": 8,
    "test_sparse.py::test_programs_with_matrices_are_scipys": 128,
    "test_matrix_forms.py::test_the_derivative_of_the_gradient_is_the_differences": 16,
}
"""How many cases it runs of other tests that compile their cases, or have many hundreds."""


def _sample_seed() -> str:
    """Return the seed by which cases of the gauntlet are drawn: another one every day."""
    return os.environ.setdefault("TRACEJIT_SAMPLE_SEED", datetime.date.today().isoformat())


def pytest_report_header(config: pytest.Config) -> str:
    """Print how much of the gauntlet runs, and the seed that draws the same cases again."""
    if config.getoption("full"):
        return "all cases"
    return f"{SAMPLE} case of each test of the gauntlet, TRACEJIT_SAMPLE_SEED={_sample_seed()}"


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Draw the cases of today, before pytest makes an item of each of a hundred thousand.

    A case that is named on the command line runs with any sample.
    """
    yield
    config, definition = metafunc.config, metafunc.definition
    is_gauntlets = "gauntlet" in definition.path.parts
    count = DRAWN.get(definition.nodeid.rpartition("/")[2], SAMPLE if is_gauntlets else None)
    if count is None or config.getoption("full") or any("[" in x for x in config.args):
        return
    cases = {f"{definition.nodeid}[{call.id}]": call for call in metafunc._calls}
    draw = random.Random(f"{_sample_seed()} {definition.nodeid}")
    drawn = set(draw.sample(sorted(cases), min(count, len(cases))))
    metafunc._calls[:] = [call for name, call in cases.items() if name in drawn]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that none is left at the end."""
    items.sort(key=lambda item: item.path.name != "test_cuda.py")


def pytest_configure(config: pytest.Config) -> None:
    """Fix the sample's seed before processes are started, so that all draw the same cases.

    Python compiles the package anew in each of the many processes of tests where
    PYTHONDONTWRITEBYTECODE is set, which takes a second, so it is compiled here.
    """
    _sample_seed()
    stand_in_for_lacking()
    if not hasattr(config, "workerinput"):
        root = Path(__file__).parents[1]
        for folder, depth in ("tracejit", 9), ("codegen", 9), ("tests", 0):
            compileall.compile_dir(root / folder, depth, quiet=1)


def pytest_collection_finish() -> None:
    """Leave imported objects out of every later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--golden` and `--full`."""
    parser.addoption("--full", action="store_true", help="run all cases of all tests")
    parser.addoption("--golden", action="store_true",
                     help="write the files of expected text again instead of comparing with them")


@pytest.fixture
def expect_text(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a function that asserts that a file holds a text, and with `--golden` writes it."""
    test = request.path.relative_to(request.config.rootpath)

    def expect(path: Path, text: str) -> None:
        if request.config.getoption("golden"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is not there; see {test} --golden"
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is no longer what comes out. If the change is meant, run "
            f"python -m pytest {test} --golden, and read the diff")

    return expect
