# What the widget tests share: the viewer without its main(), a ViewContext by hand, and the gallery
# that renders every view.
add_library(fp_widget_test_support STATIC
    "${CMAKE_CURRENT_LIST_DIR}/../support/fake_view_context.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/../support/fake_view_context.h")
set_target_properties(fp_widget_test_support PROPERTIES AUTOMOC ON)
forkpoint_target(fp_widget_test_support)
target_include_directories(fp_widget_test_support PUBLIC "${CMAKE_CURRENT_LIST_DIR}/..")
target_link_libraries(fp_widget_test_support PUBLIC fp_gui fp_widgets fp_plot)

add_executable(widgets_gallery EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/gallery_main.cpp")
forkpoint_target(widgets_gallery)
target_link_libraries(widgets_gallery PRIVATE fp_widget_test_support)
