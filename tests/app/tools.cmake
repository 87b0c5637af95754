# Reports of the built program against parsers that share no code with it.
forkpoint_script_test(reports app/report_oracle.py $<TARGET_FILE:forkpoint-cli>
                      "${PROJECT_SOURCE_DIR}/resources/samples")
forkpoint_script_test(manual-page ../resources/scripts/make_man.py $<TARGET_FILE:forkpoint-cli> --check)
