package temporaltest

import (
	"context"
	"time"

	common "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// try queues the next attempt at the activity of an execution.
func (x *execution) try() {
	a := x.activity
	a.number++
	a.token, a.began = x.s.id(), nil
	x.s.activities = append(x.s.activities, x)
	x.s.wake()
}

// again lets an attempt follow on one that failed, after a pause.
func (x *execution) again(pause time.Duration) {
	a := x.activity
	a.silent.Stop()
	a.token = "" // what its worker says does not count any more
	time.AfterFunc(pause, func() {
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		if x.s.executions[x.id] == x && x.activity == a {
			x.try()
		}
	})
}

// PollActivityTaskQueue implements the service.
func (s *Service) PollActivityTaskQueue(ctx context.Context, request *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	answer := &workflowservice.PollActivityTaskQueueResponse{}
	if err := s.refusal(request.GetNamespace()); err != nil {
		return nil, err
	}
	s.poll(ctx, func() bool {
		for len(s.activities) > 0 && ctx.Err() == nil {
			x := s.activities[0]
			s.activities = s.activities[1:]
			a := x.activity
			if s.executions[x.id] != x || a == nil || a.began != nil {
				continue
			}
			a.began = timestamppb.Now()
			token := a.token
			a.silent = time.AfterFunc(a.details.GetHeartbeatTimeout().AsDuration(), func() { s.Silence(token) })
			answer = &workflowservice.PollActivityTaskQueueResponse{
				TaskToken: []byte(token), WorkflowNamespace: request.GetNamespace(), WorkflowType: x.started.GetWorkflowType(), WorkflowExecution: &common.WorkflowExecution{WorkflowId: x.id, RunId: x.run},
				ActivityType: a.details.GetActivityType(), ActivityId: a.details.GetActivityId(), Input: a.details.GetInput(), ScheduledTime: a.began, CurrentAttemptScheduledTime: a.began, StartedTime: a.began,
				Attempt: a.number, StartToCloseTimeout: a.details.GetStartToCloseTimeout(), HeartbeatTimeout: a.details.GetHeartbeatTimeout(), RetryPolicy: a.details.GetRetryPolicy(),
			}
			return true
		}
		return false
	})
	return answer, nil
}

// attemptOf returns the execution whose activity has a token.
func (s *Service) attemptOf(token []byte) (*execution, error) {
	for _, x := range s.executions {
		if x.activity != nil && x.activity.began != nil && x.activity.token == string(token) {
			return x, nil
		}
	}
	return nil, serviceerror.NewNotFound("activity not found")
}

// Silence lets an attempt at an activity be taken for lost, as if no heartbeat came. "" is all
// attempts.
func (s *Service) Silence(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.executions {
		if x.activity != nil && x.activity.began != nil && (token == "" || x.activity.token == token) {
			x.again(0)
		}
	}
}

// RecordActivityTaskHeartbeat implements the service.
func (s *Service) RecordActivityTaskHeartbeat(_ context.Context, request *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.attemptOf(request.GetTaskToken())
	if err != nil {
		return nil, err
	}
	x.activity.silent.Reset(x.activity.details.GetHeartbeatTimeout().AsDuration())
	return &workflowservice.RecordActivityTaskHeartbeatResponse{}, nil
}

// RespondActivityTaskFailed implements the service: another attempt follows.
func (s *Service) RespondActivityTaskFailed(_ context.Context, request *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.attemptOf(request.GetTaskToken())
	if err != nil {
		return nil, err
	}
	x.activity.last = request.GetFailure()
	policy := x.activity.details.GetRetryPolicy()
	x.again(min(policy.GetInitialInterval().AsDuration()<<min(x.activity.number-1, 10), policy.GetMaximumInterval().AsDuration()))
	return &workflowservice.RespondActivityTaskFailedResponse{}, nil
}

// RespondActivityTaskCompleted implements the service.
func (s *Service) RespondActivityTaskCompleted(_ context.Context, request *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.attemptOf(request.GetTaskToken())
	if err != nil {
		return nil, err
	}
	a := x.activity
	a.silent.Stop()
	x.activity = nil
	x.happens(
		&history.HistoryEvent{EventType: enums.EVENT_TYPE_ACTIVITY_TASK_STARTED, Attributes: &history.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &history.ActivityTaskStartedEventAttributes{ScheduledEventId: a.scheduled, Attempt: a.number, LastFailure: a.last}}},
		&history.HistoryEvent{EventType: enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, Attributes: &history.HistoryEvent_ActivityTaskCompletedEventAttributes{ActivityTaskCompletedEventAttributes: &history.ActivityTaskCompletedEventAttributes{Result: request.GetResult(), ScheduledEventId: a.scheduled}}},
	)
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}
