package temporaltest

import (
	"context"
	"slices"
	"time"

	command "go.temporal.io/api/command/v1"
	common "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	failure "go.temporal.io/api/failure/v1"
	history "go.temporal.io/api/history/v1"
	sdk "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// execution is a run of a workflow. The mutex of the service guards it.
type execution struct {
	s          *Service
	id, run    string
	started    *history.WorkflowExecutionStartedEventAttributes
	events     []*history.HistoryEvent
	signals    []*history.HistoryEvent // that came during a workflow task
	attributes map[string]*common.Payload
	queued     bool        // a workflow task waits for a worker
	task       int64       // the event with which a worker began one; 0: none has
	late       *time.Timer // fires if the worker that has one is silent
	before     int64       // the last such event of a task that was completed
	timer      *time.Timer
	timerID    string
	timerEvent int64
	waits      string
	activity   *attempt
}

// attempt is an activity in one of its attempts.
type attempt struct {
	token     string
	scheduled int64
	details   *history.ActivityTaskScheduledEventAttributes
	number    int32
	began     *timestamppb.Timestamp // nil: no worker has it
	silent    *time.Timer            // fires when no heartbeat came
	last      *failure.Failure
}

// begin begins an execution. mu is held, as for all that follow unless they say otherwise.
func (s *Service) begin(id, before string, started *history.WorkflowExecutionStartedEventAttributes) *execution {
	x := &execution{s: s, id: id, run: s.id(), started: started, attributes: map[string]*common.Payload{}}
	started.OriginalExecutionRunId, started.FirstExecutionRunId, started.ContinuedExecutionRunId, started.WorkflowId = x.run, x.run, before, id
	for name, value := range started.GetSearchAttributes().GetIndexedFields() {
		x.attributes[name] = value
	}
	s.executions[id] = x
	x.add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: started}
	})
	x.schedule()
	return x
}

// add appends an event, and returns its id.
func (x *execution) add(kind enums.EventType, fill func(*history.HistoryEvent)) int64 {
	e := &history.HistoryEvent{EventId: int64(len(x.events) + 1), EventTime: timestamppb.Now(), EventType: kind}
	fill(e)
	x.events = append(x.events, e)
	return e.EventId
}

// schedule schedules a workflow task, unless one waits or is at a worker.
func (x *execution) schedule() {
	if x.queued || x.task != 0 {
		return
	}
	x.add(enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowTaskScheduledEventAttributes{WorkflowTaskScheduledEventAttributes: &history.WorkflowTaskScheduledEventAttributes{TaskQueue: x.started.GetTaskQueue(), Attempt: 1}}
	})
	x.queued = true
	x.s.workflows = append(x.s.workflows, x)
	x.s.wake()
}

// happens adds what happens outside, after the task of a worker if there is one.
func (x *execution) happens(events ...*history.HistoryEvent) {
	x.signals = append(x.signals, events...)
	if x.task == 0 {
		x.settle()
	}
}

func (x *execution) put(e *history.HistoryEvent) {
	e.EventId, e.EventTime = int64(len(x.events)+1), timestamppb.Now()
	if a := e.GetActivityTaskCompletedEventAttributes(); a != nil {
		a.StartedEventId = e.EventId - 1
	}
	x.events = append(x.events, e)
}

// settle ends the task of a worker, and adds what has happened meanwhile.
func (x *execution) settle() {
	if x.late != nil {
		x.late.Stop()
	}
	happened := x.signals
	x.signals, x.task = nil, 0
	for _, e := range happened {
		x.put(e)
	}
	if len(happened) > 0 {
		x.schedule()
	}
}

func (x *execution) signal(name string, input *common.Payloads) {
	x.happens(&history.HistoryEvent{EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, Attributes: &history.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &history.WorkflowExecutionSignaledEventAttributes{SignalName: name, Input: input}}})
}

// fire lets a timer fire; nil is any. It takes mu.
func (x *execution) fire(which *time.Timer) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.s.executions[x.id] != x || x.timer == nil || which != nil && x.timer != which {
		return
	}
	x.timer.Stop()
	x.timer = nil
	x.happens(&history.HistoryEvent{EventType: enums.EVENT_TYPE_TIMER_FIRED, Attributes: &history.HistoryEvent_TimerFiredEventAttributes{
		TimerFiredEventAttributes: &history.TimerFiredEventAttributes{TimerId: x.timerID, StartedEventId: x.timerEvent}}})
}

// forget stops what belongs to an execution.
func (x *execution) forget() {
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
	if x.activity != nil && x.activity.silent != nil {
		x.activity.silent.Stop()
	}
	x.activity = nil
	if x.late != nil {
		x.late.Stop()
	}
}

// close ends an execution.
func (x *execution) close() {
	x.forget()
	x.s.closed = append(x.s.closed, &history.History{Events: x.events})
	delete(x.s.executions, x.id)
}

// PollWorkflowTaskQueue implements the service. It takes mu, like the other RPCs.
func (s *Service) PollWorkflowTaskQueue(ctx context.Context, request *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	answer := &workflowservice.PollWorkflowTaskQueueResponse{}
	if err := s.refusal(request.GetNamespace()); err != nil {
		return nil, err
	}
	s.poll(ctx, func() bool {
		s.workflows = slices.DeleteFunc(s.workflows, func(x *execution) bool { return s.executions[x.id] != x })
		if len(s.workflows) == 0 || request.GetTaskQueue().GetKind() == enums.TASK_QUEUE_KIND_STICKY || ctx.Err() != nil {
			return false
		}
		x := s.workflows[0]
		s.workflows, x.queued = s.workflows[1:], false
		x.task = x.add(enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, func(e *history.HistoryEvent) {
			e.Attributes = &history.HistoryEvent_WorkflowTaskStartedEventAttributes{WorkflowTaskStartedEventAttributes: &history.WorkflowTaskStartedEventAttributes{ScheduledEventId: int64(len(x.events)), Identity: request.GetIdentity()}}
		})
		task := x.task
		x.late = time.AfterFunc(taskTime, func() { x.lose(task) })
		answer = &workflowservice.PollWorkflowTaskQueueResponse{
			TaskToken: []byte(x.run), WorkflowExecution: &common.WorkflowExecution{WorkflowId: x.id, RunId: x.run}, WorkflowType: x.started.GetWorkflowType(),
			PreviousStartedEventId: x.before, StartedEventId: x.task, Attempt: 1, History: proto.CloneOf(&history.History{Events: x.events}),
			WorkflowExecutionTaskQueue: x.started.GetTaskQueue(), ScheduledTime: timestamppb.Now(), StartedTime: timestamppb.Now(),
		}
		return true
	})
	return answer, nil
}

// taskTime is how long a worker may take for a workflow task, as by default. Then the service takes
// the worker for lost: one that stops may never see the task that it was just given.
const taskTime = 10 * time.Second

// lose ends the workflow task that began with an event, if it is still at its worker, so that
// another worker gets one.
func (x *execution) lose(task int64) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.s.executions[x.id] != x || x.task != task {
		return
	}
	x.add(enums.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowTaskTimedOutEventAttributes{WorkflowTaskTimedOutEventAttributes: &history.WorkflowTaskTimedOutEventAttributes{ScheduledEventId: task - 1, StartedEventId: task, TimeoutType: enums.TIMEOUT_TYPE_START_TO_CLOSE}}
	})
	x.settle()
	x.schedule()
}

// at returns the execution with a workflow task at a worker.
func (s *Service) at(token []byte) (*execution, error) {
	for _, x := range s.executions {
		if x.run == string(token) && x.task != 0 {
			return x, nil
		}
	}
	return nil, serviceerror.NewNotFound("workflow task not found")
}

// RespondWorkflowTaskFailed implements the service.
func (s *Service) RespondWorkflowTaskFailed(_ context.Context, request *workflowservice.RespondWorkflowTaskFailedRequest) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.at(request.GetTaskToken())
	if err == nil {
		x.failTask(request.GetCause())
	}
	return &workflowservice.RespondWorkflowTaskFailedResponse{}, err
}

func (x *execution) failTask(cause enums.WorkflowTaskFailedCause) {
	x.add(enums.EVENT_TYPE_WORKFLOW_TASK_FAILED, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowTaskFailedEventAttributes{WorkflowTaskFailedEventAttributes: &history.WorkflowTaskFailedEventAttributes{ScheduledEventId: x.task - 1, StartedEventId: x.task, Cause: cause}}
	})
	x.settle()
	x.schedule()
}

// RespondWorkflowTaskCompleted implements the service.
func (s *Service) RespondWorkflowTaskCompleted(_ context.Context, request *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.at(request.GetTaskToken())
	if err != nil {
		return nil, err
	}
	ends := slices.ContainsFunc(request.GetCommands(), func(c *command.Command) bool {
		return c.GetCompleteWorkflowExecutionCommandAttributes() != nil || c.GetContinueAsNewWorkflowExecutionCommandAttributes() != nil
	})
	if ends && len(x.signals) > 0 {
		x.failTask(enums.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND)
		return nil, serviceerror.NewInvalidArgument("UnhandledCommand")
	}
	completed := x.add(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowTaskCompletedEventAttributes{WorkflowTaskCompletedEventAttributes: &history.WorkflowTaskCompletedEventAttributes{ScheduledEventId: x.task - 1, StartedEventId: x.task, Identity: request.GetIdentity(), SdkMetadata: request.GetSdkMetadata()}}
	})
	x.before = x.task
	for _, c := range request.GetCommands() {
		if err := x.obey(c, completed); err != nil {
			return nil, err
		}
	}
	if s.executions[x.id] == x {
		x.settle()
	}
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

// obey carries out a command.
func (x *execution) obey(c *command.Command, completed int64) error {
	add := func(kind enums.EventType, fill func(*history.HistoryEvent)) int64 {
		return x.add(kind, func(e *history.HistoryEvent) { e.UserMetadata = c.GetUserMetadata(); fill(e) })
	}
	switch a := c.GetAttributes().(type) {
	case *command.Command_ScheduleActivityTaskCommandAttributes:
		if c := a.ScheduleActivityTaskCommandAttributes; c.GetHeartbeatTimeout().AsDuration() <= 0 || c.GetRetryPolicy().GetMaximumAttempts() != 0 {
			return serviceerror.NewInvalidArgument("an agentd that is lost would have the activity for ever, or there would be no further attempt")
		}
		x.scheduleActivity(a.ScheduleActivityTaskCommandAttributes, c.GetUserMetadata(), completed)
	case *command.Command_StartTimerCommandAttributes:
		start := a.StartTimerCommandAttributes
		x.timerID, x.waits = start.GetTimerId(), string(c.GetUserMetadata().GetSummary().GetData())
		x.timerEvent = add(enums.EVENT_TYPE_TIMER_STARTED, func(e *history.HistoryEvent) {
			e.Attributes = &history.HistoryEvent_TimerStartedEventAttributes{TimerStartedEventAttributes: &history.TimerStartedEventAttributes{TimerId: start.GetTimerId(), StartToFireTimeout: start.GetStartToFireTimeout(), WorkflowTaskCompletedEventId: completed}}
		})
		var timer *time.Timer
		timer = time.AfterFunc(start.GetStartToFireTimeout().AsDuration(), func() { x.fire(timer) })
		x.timer = timer
	case *command.Command_UpsertWorkflowSearchAttributesCommandAttributes:
		if err := x.s.checkAttributes(a.UpsertWorkflowSearchAttributesCommandAttributes.GetSearchAttributes()); err != nil {
			x.failTask(enums.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES)
			return err
		}
		changes := a.UpsertWorkflowSearchAttributesCommandAttributes.GetSearchAttributes()
		for name, value := range changes.GetIndexedFields() {
			x.attributes[name] = value
		}
		add(enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, func(e *history.HistoryEvent) {
			e.Attributes = &history.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{UpsertWorkflowSearchAttributesEventAttributes: &history.UpsertWorkflowSearchAttributesEventAttributes{WorkflowTaskCompletedEventId: completed, SearchAttributes: changes}}
		})
	case *command.Command_CompleteWorkflowExecutionCommandAttributes:
		add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, func(e *history.HistoryEvent) {
			e.Attributes = &history.HistoryEvent_WorkflowExecutionCompletedEventAttributes{WorkflowExecutionCompletedEventAttributes: &history.WorkflowExecutionCompletedEventAttributes{Result: a.CompleteWorkflowExecutionCommandAttributes.GetResult(), WorkflowTaskCompletedEventId: completed}}
		})
		x.close()
	case *command.Command_ContinueAsNewWorkflowExecutionCommandAttributes:
		x.continueAsNew(a.ContinueAsNewWorkflowExecutionCommandAttributes, completed)
	default:
		return serviceerror.NewUnimplemented("the test service does not know the command " + c.GetCommandType().String())
	}
	return nil
}

func (x *execution) continueAsNew(next *command.ContinueAsNewWorkflowExecutionCommandAttributes, completed int64) {
	x.add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, func(e *history.HistoryEvent) {
		e.Attributes = &history.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{WorkflowExecutionContinuedAsNewEventAttributes: &history.WorkflowExecutionContinuedAsNewEventAttributes{WorkflowType: next.GetWorkflowType(), TaskQueue: next.GetTaskQueue(), Input: next.GetInput(), WorkflowTaskCompletedEventId: completed}}
	})
	x.close()
	started := &history.WorkflowExecutionStartedEventAttributes{WorkflowType: next.GetWorkflowType(), TaskQueue: next.GetTaskQueue(), Input: next.GetInput(), Priority: x.started.GetPriority(), Attempt: 1}
	if started.TaskQueue == nil {
		started.TaskQueue = x.started.GetTaskQueue()
	}
	if len(x.attributes) > 0 {
		started.SearchAttributes = &common.SearchAttributes{IndexedFields: x.attributes}
	}
	x.s.begin(x.id, x.run, started)
}

func (x *execution) scheduleActivity(c *command.ScheduleActivityTaskCommandAttributes, about *sdk.UserMetadata, completed int64) {
	details := &history.ActivityTaskScheduledEventAttributes{
		ActivityId: c.GetActivityId(), ActivityType: c.GetActivityType(), TaskQueue: c.GetTaskQueue(), Input: c.GetInput(), ScheduleToCloseTimeout: c.GetScheduleToCloseTimeout(),
		StartToCloseTimeout: c.GetStartToCloseTimeout(), HeartbeatTimeout: c.GetHeartbeatTimeout(), RetryPolicy: c.GetRetryPolicy(), WorkflowTaskCompletedEventId: completed,
	}
	at := x.add(enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, func(e *history.HistoryEvent) {
		e.UserMetadata = about
		e.Attributes = &history.HistoryEvent_ActivityTaskScheduledEventAttributes{ActivityTaskScheduledEventAttributes: details}
	})
	x.activity = &attempt{scheduled: at, details: details}
	x.try()
}
