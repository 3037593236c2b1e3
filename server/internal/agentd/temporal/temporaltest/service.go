// Package temporaltest is a small Temporal service in memory, for tests of the engine with the real
// SDK over gRPC. It knows what workflows of agentd use: activities with attempts and heartbeats,
// timers, signals, search attributes, and continuing as new. It checks what the real service
// checks as far as the engine depends on it, and keeps histories in the same form.
package temporaltest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	namespace "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Service is a Temporal service. Its methods are safe for concurrent use.
type Service struct {
	workflowservice.UnimplementedWorkflowServiceServer
	// Address is where it listens.
	Address string

	server *grpc.Server

	mu         sync.Mutex
	changed    chan struct{} // closed when a task may be there
	keys       []string      // of the RPCs, in their order: what they present as authorization
	attributes []string      // the search attributes that the namespace has
	namespace  bool          // there is one
	refused    int           // polls and checks without a namespace
	refuses    map[string]error
	asked      int                // how often the service was asked to signal a workflow, and to make it
	hangs      chan time.Duration // gets the time that was left of a ShutdownWorker without an answer; nil: it gets one
	executions map[string]*execution
	workflows  []*execution // with a task that no worker has
	activities []*execution
	closed     []*history.History // of executions that have ended
	numbers    int
}

// Start starts a service until the end of the test.
func Start(t testing.TB, options ...grpc.ServerOption) *Service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{Address: listener.Addr().String(), changed: make(chan struct{}), attributes: Attributes(), namespace: true, refuses: map[string]error{}, executions: map[string]*execution{}}
	s.server = grpc.NewServer(append(options, grpc.UnaryInterceptor(s.intercept))...)
	workflowservice.RegisterWorkflowServiceServer(s.server, s)
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(listener) }() // ends with Stop
	t.Cleanup(func() {
		s.server.Stop()
		<-served
		s.Wipe()
	})
	return s
}

// intercept notes keys, and turns errors into those of gRPC.
func (s *Service) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.keys = append(s.keys, strings.Join(md.Get("authorization"), " "))
	s.mu.Unlock()
	answer, err := handle(ctx, request)
	if err != nil {
		if known, ok := err.(serviceerror.ServiceError); ok {
			err = known.Status().Err()
		}
		return nil, status.Convert(err).Err()
	}
	return answer, nil
}

// Keys returns what RPCs have presented as authorization, each value once.
func (s *Service) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.keys)))
}

// Attributes returns the names of the search attributes that workflows of agentd have.
func Attributes() []string { return []string{"AgentdTenant", "AgentdAgent", "AgentdState"} }

// SetAttributes says which search attributes the namespace has; all before.
func (s *Service) SetAttributes(names ...string) { s.set(func() { s.attributes = names }) }

// Refuse lets the service refuse to start or signal a workflow, with an error. Nil ends that.
func (s *Service) Refuse(id string, err error) { s.set(func() { s.refuses[id] = err }) }

// SetNamespace says whether there is a namespace. Without one, the service refuses all RPCs.
func (s *Service) SetNamespace(has bool) { s.set(func() { s.namespace = has }) }

func (s *Service) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.wake()
}

// Wipe forgets everything, as if the database of the service was lost.
func (s *Service) Wipe() {
	s.set(func() {
		for _, x := range s.executions {
			x.forget()
		}
		clear(s.executions)
		s.workflows, s.activities = nil, nil
	})
}

// Open returns the ids of the open workflows, sorted.
func (s *Service) Open() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.executions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Closed returns the histories of executions that have ended, the oldest first.
func (s *Service) Closed() []*history.History {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.closed)
}

// Attribute returns the value of a search attribute of an open workflow as JSON, or "".
func (s *Service) Attribute(id, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.executions[id]; x != nil {
		return string(x.attributes[name].GetData())
	}
	return ""
}

// Waits returns the summary of the timer of an open workflow, as JSON, or "".
func (s *Service) Waits(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.executions[id]; x != nil && x.timer != nil {
		return x.waits
	}
	return ""
}

// Fire lets the timer of an open workflow fire, if it has one.
func (s *Service) Fire(id string) {
	s.mu.Lock()
	x := s.executions[id]
	s.mu.Unlock()
	if x != nil {
		x.fire(nil)
	}
}

// wake lets polls look again. mu is held.
func (s *Service) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// poll waits for a task, at most as long as a long poll.
func (s *Service) poll(ctx context.Context, find func() bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		s.mu.Lock()
		found, changed := !s.namespace || find(), s.changed
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// GetSystemInfo implements the service.
func (s *Service) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{
		SignalAndQueryHeader: true, InternalErrorDifferentiation: true, ActivityFailureIncludeHeartbeat: true, SupportsSchedules: true,
		EncodedFailureAttributes: true, UpsertMemo: true, SdkMetadata: true,
	}}, nil
}

// DescribeNamespace implements the service.
func (s *Service) DescribeNamespace(_ context.Context, request *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if err := s.refusal(request.GetNamespace()); err != nil {
		return nil, err
	}
	return &workflowservice.DescribeNamespaceResponse{NamespaceInfo: &namespace.NamespaceInfo{Name: request.GetNamespace(), State: enums.NAMESPACE_STATE_REGISTERED}}, nil
}

// refusal returns an error if there is no namespace.
func (s *Service) refusal(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.namespace {
		s.refused++
		return serviceerror.NewNamespaceNotFound(name)
	}
	return nil
}

// Asked returns how often the service was asked to signal a workflow, and to make it if there is
// none.
func (s *Service) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Refused returns how often the service was asked for a namespace that does not exist.
func (s *Service) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// SignalWithStartWorkflowExecution implements the service.
func (s *Service) SignalWithStartWorkflowExecution(_ context.Context, request *workflowservice.SignalWithStartWorkflowExecutionRequest) (*workflowservice.SignalWithStartWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if !s.namespace {
		return nil, serviceerror.NewNamespaceNotFound(request.GetNamespace())
	}
	if err := s.refuses[request.GetWorkflowId()]; err != nil {
		return nil, err
	}
	if err := s.checkAttributes(request.GetSearchAttributes()); err != nil {
		return nil, err
	}
	x, started := s.executions[request.GetWorkflowId()], false
	if started = x == nil; started {
		x = s.begin(request.GetWorkflowId(), "", &history.WorkflowExecutionStartedEventAttributes{
			WorkflowType: request.GetWorkflowType(), TaskQueue: request.GetTaskQueue(), Input: request.GetInput(), SearchAttributes: request.GetSearchAttributes(), Priority: request.GetPriority(),
			FirstWorkflowTaskBackoff: nil, WorkflowTaskTimeout: nil, Attempt: 1,
		})
	}
	x.signal(request.GetSignalName(), request.GetSignalInput())
	return &workflowservice.SignalWithStartWorkflowExecutionResponse{RunId: x.run, Started: started}, nil
}

// checkAttributes returns an error if the namespace does not have a search attribute. mu is held.
func (s *Service) checkAttributes(a *common.SearchAttributes) error {
	for name := range a.GetIndexedFields() {
		if !slices.Contains(s.attributes, name) {
			return serviceerror.NewInvalidArgument("the namespace has no mapping defined for search attribute " + name)
		}
	}
	return nil
}

// SignalWorkflowExecution implements the service.
func (s *Service) SignalWorkflowExecution(_ context.Context, request *workflowservice.SignalWorkflowExecutionRequest) (*workflowservice.SignalWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.executions[request.GetWorkflowExecution().GetWorkflowId()]
	if x == nil {
		return nil, serviceerror.NewNotFound("there is no such workflow")
	}
	x.signal(request.GetSignalName(), request.GetInput())
	return &workflowservice.SignalWorkflowExecutionResponse{}, nil
}

// ListWorkflowExecutions implements the service. It returns all open workflows, on pages of two,
// to those who do not ask for the thousand that a service returns by itself.
func (s *Service) ListWorkflowExecutions(_ context.Context, request *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if size := request.GetPageSize(); size == 0 || size > 100 {
		return nil, status.Errorf(codes.DeadlineExceeded, "a page of %d workflows takes too long", size)
	}
	answer := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range s.Open() {
		if id <= string(request.GetNextPageToken()) {
			continue
		}
		if len(answer.Executions) == 2 {
			answer.NextPageToken = []byte(answer.Executions[1].GetExecution().GetWorkflowId())
			break
		}
		answer.Executions = append(answer.Executions, &workflow.WorkflowExecutionInfo{Execution: &common.WorkflowExecution{WorkflowId: id}})
	}
	return answer, nil
}

// HangShutdown lets the service answer no worker that stops, and returns how much time was left
// when the wait of one ended.
func (s *Service) HangShutdown() <-chan time.Duration {
	hangs := make(chan time.Duration, 1)
	s.set(func() { s.hangs = hangs })
	return hangs
}

// ShutdownWorker implements the service.
func (s *Service) ShutdownWorker(ctx context.Context, _ *workflowservice.ShutdownWorkerRequest) (*workflowservice.ShutdownWorkerResponse, error) {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs != nil {
		<-ctx.Done()
		deadline, _ := ctx.Deadline()
		hangs <- time.Until(deadline)
	}
	return &workflowservice.ShutdownWorkerResponse{}, nil
}

// id returns a new id. mu is held.
func (s *Service) id() string {
	s.numbers++
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", s.numbers)
}
