# The Debian package of what was built: (cd build/release && cpack)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME forkpoint)
set(CPACK_PACKAGE_CONTACT "Forkpoint contributors <contributors@forkpoint.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(FORKPOINT_HAVE_GUI)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS qt6-qpa-plugins) # loaded by name: no library says so
endif()
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Forkpoint opens the checkpoints of two training runs as they are, walks
their steps to the first one whose bits differ, and shows which tensors,
which elements and by how much. It reads safetensors, torch.save files,
npy, npz and directories of them, and executes nothing of a pickle.")
include(CPack)
