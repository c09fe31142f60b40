// Workspaces that outlive a call: state of a thread that is costly to make and is used from query
// to query. A call takes as many as it has threads; what comes back is handed out again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hippograph {

template <typename Workspace>
class WorkspacePool {
   public:
    using Make = std::function<std::unique_ptr<Workspace>()>;

    explicit WorkspacePool(Make make) : make_(std::move(make)) {}

    // Returns itself to the pool at its end. The pool must outlive it.
    class Lease {
       public:
        Lease(WorkspacePool& pool, std::unique_ptr<Workspace> workspace)
            : pool_(&pool), workspace_(std::move(workspace)) {}
        Lease(Lease&&) noexcept = default;
        Lease& operator=(Lease&&) = delete;
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        ~Lease() {
            if (workspace_) pool_->put_back(std::move(workspace_));
        }

        [[nodiscard]] Workspace& operator*() const noexcept { return *workspace_; }
        [[nodiscard]] Workspace* operator->() const noexcept { return workspace_.get(); }

       private:
        WorkspacePool* pool_;
        std::unique_ptr<Workspace> workspace_;
    };

    [[nodiscard]] Lease lease() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Workspace> workspace = std::move(idle_.back());
                idle_.pop_back();
                return Lease(*this, std::move(workspace));
            }
        }
        return Lease(*this, make_());
    }

   private:
    void put_back(std::unique_ptr<Workspace> workspace) noexcept {
        const std::lock_guard lock(mutex_);
        try {
            idle_.push_back(std::move(workspace));
        } catch (const std::bad_alloc&) {
            // No room to keep it: it is made again when it is needed.
        }
    }

    Make make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace hippograph
