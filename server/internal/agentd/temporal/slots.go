package temporal

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
)

// slots bounds the activities of a Temporal worker by the slots of its agent. The worker reserves a
// slot before it asks the service for a task. So a task for which this agentd has no slot stays in
// the queue, for another agentd. A run that waits only for a person has an activity and no slot.
type slots struct {
	worker  agent.Worker
	waiting atomic.Int64 // permits for tasks that the agent does not count yet
}

const (
	// slotPause is the pause between two looks for a free slot.
	slotPause = 50 * time.Millisecond
	// beginTime is the longest usual time between the arrival of a task and the attempt of the agent,
	// which the agent counts itself. If the attempt begins later, the worker may get a task for which
	// there is no slot. That attempt fails, and another one follows.
	beginTime = 200 * time.Millisecond
)

// ReserveSlot implements worker.SlotSupplier.
func (s *slots) ReserveSlot(ctx context.Context, info worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		if permit := s.TryReserveSlot(info); permit != nil {
			return permit, nil
		}
		select {
		case <-time.After(slotPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryReserveSlot implements worker.SlotSupplier.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit {
	if free, _ := s.worker.Slots(); int64(free) < s.waiting.Add(1) {
		s.waiting.Add(-1)
		return nil
	}
	return &worker.SlotPermit{UserData: sync.OnceFunc(func() { s.waiting.Add(-1) })}
}

// MarkSlotUsed implements worker.SlotSupplier: the agent counts the attempt, and then the run.
func (s *slots) MarkSlotUsed(info worker.SlotMarkUsedInfo) {
	time.AfterFunc(beginTime, info.Permit().UserData.(func()))
}

// ReleaseSlot implements worker.SlotSupplier.
func (s *slots) ReleaseSlot(info worker.SlotReleaseInfo) { info.Permit().UserData.(func())() }

// MaxSlots implements worker.SlotSupplier: there is no fixed number.
func (s *slots) MaxSlots() int { return 0 }

// slotTuner is a tuner with other slots for activities.
type slotTuner struct {
	worker.WorkerTuner
	activities *slots
}

// GetActivityTaskSlotSupplier implements worker.WorkerTuner.
func (t slotTuner) GetActivityTaskSlotSupplier() worker.SlotSupplier { return t.activities }
