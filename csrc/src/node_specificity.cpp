#include "hippograph/node_specificity.hpp"

namespace hippograph {

std::vector<Score> node_specificity(const CsrMatrix& occurrences) {
    const CsrView& view = occurrences.view();
    std::vector<Score> specificity(position(view.num_rows()), 0.0);
    for (NodeId node = 0; node < view.num_rows(); ++node) {
        EdgeOffset num_passages = 0;  // a stored count of 0 is no occurrence
        for (EdgeOffset entry = view.row_begin(node); entry < view.row_end(node); ++entry) {
            num_passages += view.values[position(entry)] > 0.0F ? 1 : 0;
        }
        if (num_passages > 0) specificity[position(node)] = 1.0 / static_cast<Score>(num_passages);
    }
    return specificity;
}

}  // namespace hippograph
