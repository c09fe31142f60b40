#include "hippograph/rank_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "hippograph/seeds.hpp"
#include "hippograph/sweep_group.hpp"

namespace hippograph {

namespace {

void check_options(const SweepGraph& graph, std::span<const double> restart_probabilities,
                   std::span<const Threshold> thresholds, const SweepOptions& options) {
    if (restart_probabilities.empty() || thresholds.empty()) {
        throw std::invalid_argument(
            std::string(thresholds.empty() ? "synonymy_thresholds" : "restart_probabilities") +
            " is empty; a sweep needs at least one");
    }
    if (options.k < 1 || options.k > graph.num_passages()) {
        throw std::invalid_argument(
            "k is " + std::to_string(options.k) + "; it must be between 1 and " +
            std::to_string(graph.num_passages()) + ", the number of passages");
    }
    if (!(options.tolerance > 0.0) || std::isinf(options.tolerance)) {
        throw std::invalid_argument("tolerance is " + std::to_string(options.tolerance) +
                                    "; it must be a finite number above 0");
    }
    if (options.max_terms < 1) {
        throw std::invalid_argument("max_terms is " + std::to_string(options.max_terms) +
                                    "; it must be at least 1");
    }
}

// Ranks all queries under one threshold after another.
template <typename Real>
class Ranker {
   public:
    Ranker(const SweepGraph& graph, const SeedView& seeds,
           std::span<const ChebyshevSeries> restarts, const SweepOptions& options,
           SweepRanking& ranking)
        : graph_(graph),
          seeds_(seeds),
          restarts_(restarts),
          options_(options),
          ranking_(ranking),
          num_groups_((seeds.num_queries() + kLanes - 1) / kLanes),
          num_threads_(resolve_num_threads(options.num_threads, num_groups_)),
          workers_(position(num_threads_)) {}

    void rank(std::size_t place, Threshold threshold, const CheckInterrupt& check) {
        const ThresholdedGraph<Real> graph = graph_.at<Real>(threshold);
        const CheckInterrupt never;
        parallel_for(num_groups_, num_threads_, [&](std::int64_t item, int number) {
            Worker& worker = workers_[position(number)];
            if (!worker.group) {
                worker.group.emplace(graph_, restarts_,
                                     SeriesOptions{.tolerance = options_.tolerance,
                                                   .max_terms = options_.max_terms});
                worker.scores.resize(position(graph_.num_passages()));
            }
            const std::int64_t first = item * kLanes;
            const std::int64_t count = std::min(kLanes, seeds_.num_queries() - first);
            worker.group->solve(graph, seeds_, first, count, number == 0 ? check : never);
            for (std::size_t restart = 0; restart < restarts_.size(); ++restart) {
                for (std::int64_t lane = 0; lane < count; ++lane) {
                    write(worker, place * restarts_.size() + restart, restart, first + lane,
                          position(lane));
                }
            }
        });
    }

   private:
    static constexpr std::int64_t kLanes = SweepGroup<Real>::kLanes;

    struct Worker {
        std::optional<SweepGroup<Real>> group;
        std::vector<Score> scores;
    };

    void write(Worker& worker, std::size_t setting, std::size_t restart, std::int64_t query,
               std::size_t lane) {
        const std::size_t place = setting * position(seeds_.num_queries()) + position(query);
        const std::size_t k = position(options_.k);
        worker.group->copy_scores(restart, lane, worker.scores);
        top_k(worker.scores, options_.ties, std::span(ranking_.passages).subspan(place * k, k),
              std::span(ranking_.scores).subspan(place * k, k));
        const auto& series = worker.group->series(restart, lane);
        ranking_.num_terms[place] = series.num_terms;
        ranking_.error_bounds[place] = series.error_bound();
        ranking_.converged[place] = series.converged ? 1 : 0;
    }

    const SweepGraph& graph_;
    SeedView seeds_;
    std::span<const ChebyshevSeries> restarts_;
    SweepOptions options_;
    SweepRanking& ranking_;
    std::int64_t num_groups_;
    int num_threads_;
    std::vector<Worker> workers_;
};

}  // namespace

SweepRanking rank_sweep(const SweepGraph& graph, const SeedView& seeds,
                        std::span<const double> restart_probabilities,
                        std::span<const Threshold> thresholds, const SweepOptions& options,
                        const CheckInterrupt& check) {
    check_options(graph, restart_probabilities, thresholds, options);
    check_seeds(seeds, graph.num_nodes());
    const std::vector<ChebyshevSeries> restarts(restart_probabilities.begin(),
                                                restart_probabilities.end());
    const std::size_t count = thresholds.size() * restarts.size() * position(seeds.num_queries());
    SweepRanking ranking;
    ranking.passages.resize(count * position(options.k));
    ranking.scores.resize(count * position(options.k));
    ranking.num_terms.resize(count);
    ranking.error_bounds.resize(count);
    ranking.converged.resize(count);
    const auto rank_with = [&]<typename Real>() {
        Ranker<Real> ranker(graph, seeds, restarts, options, ranking);
        for (std::size_t place = 0; place < thresholds.size(); ++place) {
            ranker.rank(place, thresholds[place], check);
        }
    };
    if (options.precision == Precision::float32 && graph.fits_float32()) {
        rank_with.template operator()<float>();
    } else {
        rank_with.template operator()<double>();
    }
    return ranking;
}

}  // namespace hippograph
