// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/catalog.h"
#include "model/pairing/optimizer_forms.h"

#include <set>
#include <string>
#include <string_view>

namespace forkpoint {

/// What of two checkpoints is the state of single ranks. It means the same only where the same ranks
/// wrote both: that a run of two has no rank 3, or that its rank 0 draws otherwise, is no difference.
/// Nor is it where the two keep what their ranks shared out in unlike forms (model/pairing/optimizer_forms.h).
class RankStates
{
public:
    /// `strict`: names alone decide, and state in another form is not there.
    RankStates(const Catalog &a, const Catalog &b, bool strict = false);

    /// Why a row says nothing about the two runs; empty where it does. Null for a side that lacks it.
    std::string whyNothing(const TensorRef *a, const TensorRef *b) const;
    std::string whyNothing(const ValueRef *a, const ValueRef *b) const;

private:
    struct Side
    {
        std::set<OwnerCoordinate> owners;  ///< of tensors
        std::set<OwnerCoordinate> named;   ///< in names; one without axes for generators of no rank
        std::set<std::string_view> parts;  ///< what is called so by some rank, without that rank
        std::set<std::string_view> wholes; ///< names of values that are of no rank
        std::set<std::string_view> locals; ///< DTensors of which the file holds one rank's part
    };

    static Side sideOf(const Catalog &catalog);
    static void addOwnedParts(const Catalog &catalog, Side &side);
    static void addNamedParts(const Catalog &catalog, Side &side);
    bool isOfRank(const TensorRef &tensor, const Side &side) const;
    bool isOfRank(const ValueRef &value, const Side &side) const;
    template <class Item>
    std::string why(const Item *a, const Item *b) const;

    Side m_a, m_b;
    OptimizerForms m_forms;
    bool m_isStrict = false;
    bool m_unlikeOwners = false, m_unlikeNames = false;
};

} // namespace forkpoint
