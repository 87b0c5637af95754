// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forkpoint {

/// The names that our readers give a meaning to. A name is never looked up in anything but this
/// table; all others stay symbols.
enum class KnownGlobal : std::uint8_t {
    None,
    // Python
    Dict, ///< dict, OrderedDict, defaultdict
    Counter,
    List,
    Tuple,
    Set,
    FrozenSet,
    Bytes,
    ByteArray,
    Complex,
    EncodeText, ///< _codecs.encode: how protocol 2 writes bytes
    Ellipsis,
    GetAttr,
    BytesIO,
    Reconstructor, ///< copyreg._reconstructor: protocol 0 and 1 objects
    // torch values
    TorchSize,
    TorchDevice,
    TorchDType,
    TorchSymbol, ///< layouts, schemes, memory formats: printed by name
    TorchGetLayout,
    TorchGenerator,
    TorchStorage, ///< a storage class
    LoadFromBytes,
    JitList,    ///< build_intlist and the like
    JitTypeTag, ///< restore_type_tag
    // torch tensors
    RebuildTensor, ///< _rebuild_tensor, _v2
    RebuildTensorV3,
    RebuildParameter,
    RebuildParameterWithState,
    RebuildQuantized,
    RebuildSparse,
    RebuildSparseCsr,
    RebuildFromNumpy,
    RebuildFromCpu,
    RebuildMeta,
    RebuildNested,
    RebuildWrapperSubclass,
    RebuildFromType,
    // numpy
    NumpyReconstruct,
    NumpyFromBuffer,
    NumpyScalar,
    NumpyDType,
    NumpyMaskedReconstruct,
};

/// The module name of Python 3 and numpy 1 for one that Python 2 or numpy 2 wrote; of TorchScript's
/// classes without "___torch_mangle_N", which tells nothing of the class.
std::string canonicalModule(std::string_view module, std::string_view name);
/// The name as Python 3 has it ("int" for __builtin__.long).
std::string canonicalName(std::string_view module, std::string_view name);
/// canonicalModule.canonicalName, without "builtins."
std::string canonicalPath(std::string_view module, std::string_view name);

KnownGlobal knownGlobal(std::string_view module, std::string_view name);

/// Whether a call of that name runs code, opens files or sockets, or reaches such a thing. What is
/// not on the list is not thereby harmless: it is simply never called here.
bool isDangerousGlobal(std::string_view module, std::string_view name);

} // namespace forkpoint
