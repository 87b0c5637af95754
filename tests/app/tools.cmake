# Reports of the built program against parsers that share no code with it.
forkpoint_script_test(reports app/report_oracle.py $<TARGET_FILE:forkpoint-cli>
                      "${PROJECT_SOURCE_DIR}/resources/samples")
forkpoint_script_test(manual-page ../resources/scripts/make_man.py $<TARGET_FILE:forkpoint-cli> --check)
forkpoint_script_test(index app/check_index.py $<TARGET_FILE:forkpoint-cli>)
# Fingerprint files as resources/docs/fpx.md specifies them.
add_test(NAME tools/fpx COMMAND "${FORKPOINT_SYSTEM_PYTHON}" -B
         "${CMAKE_CURRENT_SOURCE_DIR}/app/fpx_oracle.py" $<TARGET_FILE:forkpoint-cli>
         "${PROJECT_SOURCE_DIR}/resources/samples")
set_tests_properties(tools/fpx PROPERTIES LABELS tools TIMEOUT 120 SKIP_RETURN_CODE 77)
