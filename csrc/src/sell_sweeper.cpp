#include "hippograph/sell_sweeper.hpp"

#include <algorithm>
#include <cmath>

#include "hippograph/parallel.hpp"

namespace hippograph {

namespace {

// Starting threads costs some tens of microseconds, once a group: its work must be worth that.
constexpr EdgeOffset kMinEntriesPerThread = 250'000;

constexpr std::int64_t kSlicesPerTask = 4096;

}  // namespace

SellSweeper::SellSweeper(const SellMatrix& matrix, std::size_t width, int num_threads)
    : matrix_(&matrix),
      width_(width),
      num_threads_(num_threads),
      unknowns_(position(matrix.num_ranks()) * width),
      long_terms_(position(matrix.rows().num_long()) * width),
      chunk_sums_(matrix.rows().chunks().size() * width),
      long_sums_(long_terms_.size()),
      reports_(position(matrix.num_blocks())) {}

void SellSweeper::set_restart(std::vector<RestartTerm> terms) {
    std::ranges::sort(terms, {}, &RestartTerm::rank);
    std::ranges::fill(long_terms_, 0.0);
    seed_slices_.clear();
    seed_terms_.clear();
    exact_seed_terms_.clear();
    for (const auto& [rank, vector, value] : terms) {
        if (rank < matrix_->rows().num_long()) {
            long_terms_[position(rank) * width_ + vector] = value;
            continue;
        }
        if (seed_slices_.empty() || seed_slices_.back() != rank / 16) {
            seed_slices_.push_back(rank / 16);
            exact_seed_terms_.resize(exact_seed_terms_.size() + kLanes * width_, 0.0);
        }
        const std::size_t begin = exact_seed_terms_.size() - kLanes * width_;
        exact_seed_terms_[begin + position(rank % 16) * width_ + vector] = value;
    }
    for (const double term : exact_seed_terms_) seed_terms_.push_back(static_cast<float>(term));
}

void SellSweeper::for_each_block(const std::function<void(std::int64_t block)>& body) const {
    for (const SellMatrix::Group& group : matrix_->groups()) {
        const std::int64_t worthwhile =
            group.num_entries * static_cast<EdgeOffset>(width_) / kMinEntriesPerThread;
        const int threads =
            group.is_independent
                ? std::min(num_threads_,
                           static_cast<int>(std::min<std::int64_t>(worthwhile, num_threads_)))
                : 1;
        parallel_for(group.last_block - group.first_block, threads,
                     [&](std::int64_t item, int) { body(group.first_block + item); });
    }
}

template <typename Body>
void SellSweeper::for_each_range(std::int64_t block, const Body& body) const {
    const auto begins = matrix_->block_begins();
    std::int64_t first = begins[position(block)];
    const std::int64_t last = begins[position(block) + 1];
    for (auto seed = std::ranges::lower_bound(seed_slices_, first);
         seed != seed_slices_.end() && *seed < last; ++seed) {
        if (first < *seed) body(first, *seed, -1);
        body(*seed, *seed + 1, seed - seed_slices_.begin());
        first = *seed + 1;
    }
    if (first < last) body(first, last, -1);
}

void SellSweeper::relax(double pull, double omega) {
    relax_long_rows(pull, omega);
    const SellKernels& kernels = sell_kernels();
    const auto step = width_ == 1 ? kernels.relax : kernels.relax_block;
    const SellGraph graph = matrix_->graph();
    const RelaxFactors factors{.pull = static_cast<float>(pull),
                               .omega = static_cast<float>(omega)};
    for_each_block([&](std::int64_t block) {
        for_each_range(block, [&](std::int64_t first, std::int64_t last, std::ptrdiff_t seed) {
            const float* const terms =
                seed < 0 ? nullptr : seed_terms_.data() + position(seed) * kLanes * width_;
            step(graph, factors, terms, unknowns_.data(), first, last);
        });
    });
}

void SellSweeper::certify(double pull, std::span<float> scores, std::span<SweepReport> reports) {
    std::ranges::fill(reports, SweepReport{});
    certify_long_rows(pull, scores, reports);
    const SellKernels& kernels = sell_kernels();
    const SellGraph graph = matrix_->graph();
    for_each_block([&](std::int64_t block) {
        CertifySums& sums = reports_[position(block)];
        sums = {};
        for_each_range(block, [&](std::int64_t first, std::int64_t last, std::ptrdiff_t seed) {
            const double* const terms =
                seed < 0 ? nullptr : exact_seed_terms_.data() + position(seed) * kLanes * width_;
            if (width_ == 1) {
                kernels.certify(graph, pull, terms, unknowns_.data(), scores.data(), first, last,
                                sums);
            } else {
                kernels.certify_block(graph, pull, terms, unknowns_.data(), first, last, sums);
            }
        });
    });
    for (const CertifySums& sums : reports_) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            SweepReport& report = reports[width_ == 1 ? 0 : lane];
            report.rounding += sums.rounding[lane];
            report.change += sums.change[lane];
            report.mass += sums.mass[lane];
        }
    }
    // One vector's rounding is met by other rows, on the way of a step; see exact_solver.hpp.
    for (SweepReport& report : reports) {
        if (width_ == 1) report.rounding *= pull;
        report.change *= pull;
    }
}

void SellSweeper::for_each_task(
    const std::function<void(std::int64_t first, std::int64_t last)>& body) const {
    const std::int64_t num_slices = matrix_->num_ranks() / 16;
    const std::int64_t num_tasks = (num_slices + kSlicesPerTask - 1) / kSlicesPerTask;
    const int threads = static_cast<int>(std::min<std::int64_t>(num_threads_, num_tasks));
    parallel_for(num_tasks, threads, [&](std::int64_t task, int) {
        body(task * kSlicesPerTask, std::min(num_slices, (task + 1) * kSlicesPerTask));
    });
}

void SellSweeper::scale(double scale, std::span<float> scores) const {
    const auto step = sell_kernels().scale;
    for_each_task(
        [&](std::int64_t first, std::int64_t last) { step(scale, scores.data(), first, last); });
}

void SellSweeper::unknowns_to_scores(std::span<const double> scales) {
    const auto step = sell_kernels().scale_block;
    for_each_task([&](std::int64_t first, std::int64_t last) {
        step(matrix_->degrees().data(), scales.data(), unknowns_.data(), first, last);
    });
}

// long_sums_ = sum_j w_ij u_j of each long row i.
void SellSweeper::sum_long_rows() {
    const SellRows& rows = matrix_->rows();
    const auto chunks = rows.chunks();
    const auto num_chunks = std::ssize(chunks);
    const EdgeOffset work = num_chunks * SellRows::kChunk * static_cast<EdgeOffset>(width_);
    const int threads =
        static_cast<int>(std::clamp<EdgeOffset>(work / kMinEntriesPerThread, 1, num_threads_));
    const SellKernels& kernels = sell_kernels();
    parallel_for(num_chunks, threads, [&](std::int64_t item, int) {
        const SellRows::Chunk& chunk = chunks[position(item)];
        double* const sums = chunk_sums_.data() + position(item) * width_;
        if (width_ == 1) {
            *sums = kernels.long_row(rows.long_columns(), rows.long_values(), unknowns_.data(),
                                     chunk.begin, chunk.end);
        } else {
            kernels.long_row_block(rows.long_columns(), rows.long_values(), unknowns_.data(),
                                   chunk.begin, chunk.end, sums);
        }
    });
    std::ranges::fill(long_sums_, 0.0);
    for (std::size_t item = 0; item < chunks.size(); ++item) {
        for (std::size_t vector = 0; vector < width_; ++vector) {
            long_sums_[position(chunks[item].row) * width_ + vector] +=
                chunk_sums_[item * width_ + vector];
        }
    }
}

void SellSweeper::relax_long_rows(double pull, double omega) {
    sum_long_rows();
    for (std::size_t place = 0; place < long_sums_.size(); ++place) {
        const double degree = matrix_->degrees()[place / width_];
        const double target = (pull * long_sums_[place] + long_terms_[place]) / degree;
        const auto old = static_cast<double>(unknowns_[place]);
        unknowns_[place] = static_cast<float>(old + omega * (target - old));
    }
}

void SellSweeper::certify_long_rows(double pull, std::span<float> scores,
                                    std::span<SweepReport> reports) {
    sum_long_rows();
    for (std::size_t place = 0; place < long_sums_.size(); ++place) {
        const std::size_t rank = place / width_;
        const double degree = matrix_->degrees()[rank];
        const auto late = static_cast<double>(matrix_->late_shares()[rank]);
        const double target = pull * long_sums_[place] + long_terms_[place];
        const double before = degree * static_cast<double>(unknowns_[place]);
        unknowns_[place] = static_cast<float>(target / degree);
        const double after = degree * static_cast<double>(unknowns_[place]);
        SweepReport& report = reports[place % width_];
        if (width_ == 1) {
            scores[rank] = static_cast<float>(target);
            report.rounding += (1.0 - late) * std::abs(target - after);
            report.change += late * std::abs(target - before);
            report.mass += target;
        } else {
            report.rounding += std::abs(target - after);
            report.change += late * std::abs(after - before);
            report.mass += after;
        }
    }
}

}  // namespace hippograph
