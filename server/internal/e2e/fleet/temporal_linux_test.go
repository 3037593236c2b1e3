//go:build more

package fleet_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
)

var (
	engine          = flag.String("fleet.engine", "local", "the engine of the agentds, `local` or temporal")
	temporalProgram = flag.String("fleet.temporal", "", "with -fleet.engine=temporal: the `PROGRAM` server/internal/e2e/temporalserver; empty: a service in memory of the test")
)

// withTemporal reports whether the agentds have the engine temporal.
func withTemporal() bool { return *engine == "temporal" }

// temporalName is the name of the program of Temporal's server in bin.
const temporalName = "temporalserver"

// linkTemporal makes the program of Temporal's server one of those in bin.
func linkTemporal() error {
	if *temporalProgram == "" {
		return nil
	}
	path, err := filepath.Abs(*temporalProgram)
	if err != nil {
		return err
	}
	return os.Symlink(path, filepath.Join(bin, temporalName))
}

// temporalService is the service of the agentds: one in memory of the test, or a process. Neither
// keeps anything when it ends.
type temporalService struct {
	address string
	memory  *temporaltest.Service // nil: a process
	process *server
}

// startTemporal starts the service.
func (w *world) startTemporal() *temporalService {
	w.t.Helper()
	if *temporalProgram == "" {
		memory := temporaltest.Start(w.t)
		return &temporalService{address: memory.Address, memory: memory}
	}
	address := w.net + ".100:7233"
	s := &server{name: "temporal", program: temporalName, home: filepath.Join(w.dir, "temporal"), address: address, args: []string{"--address", address}}
	if err := os.MkdirAll(s.path("work"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := s.start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		s.signal(syscall.SIGCONT)
		s.kill()
	})
	return &temporalService{address: address, process: s}
}

// settings returns the part of agentd.yaml about the service.
func (s *temporalService) settings() string {
	return fmt.Sprintf("engine: temporal\ntemporal: {address: %q, task_queue: fleet}\n", s.address)
}

// open returns how many workflows are open, or an error while the service does not answer.
func (s *temporalService) open(ctx context.Context) (int, error) {
	c, err := client.DialContext(ctx, client.Options{HostPort: s.address})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	n, request := 0, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 100, Query: "ExecutionStatus = 'Running'"}
	for {
		page, err := c.ListWorkflow(ctx, request)
		if err != nil {
			return 0, err
		}
		n += len(page.GetExecutions())
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return n, nil
		}
	}
}

func ofTemporal(l *load, seed uint64) *striker {
	s := &striker{load: l, random: rand.New(rand.NewPCG(seed, 5))}
	s.faults = []fault{{"temporal wiped, rebuilt", s.wipes}, {"temporal away", s.away}}
	return s
}

// wipes loses what the service has, and has an agentd make the workflows again.
func (s *striker) wipes(ctx context.Context, _ *server) error {
	service := s.load.temporal
	if service.memory != nil {
		service.memory.Wipe()
	} else {
		service.process.kill()
		if err := service.process.start(ctx); err != nil {
			return err
		}
	}
	_, err := s.load.agentds[s.random.IntN(size)].run(ctx, "engine", "rebuild", "--config", s.load.agentds[0].path("agentd.yaml"))
	return err
}

// wipeTemporal loses what the service has, if there is one, without making the workflows again.
func (l *load) wipeTemporal() {
	switch {
	case !withTemporal():
	case l.temporal.memory != nil:
		l.temporal.memory.Wipe()
	default:
		l.temporal.process.kill()
		l.begin(l.temporal.process)
	}
}

// away stops the service for longer than an agentd waits for an answer.
func (s *striker) away(ctx context.Context, _ *server) error {
	service := s.load.temporal
	if service.memory != nil {
		service.memory.SetNamespace(false)
		defer service.memory.SetNamespace(true)
	} else {
		service.process.signal(syscall.SIGSTOP)
		defer service.process.signal(syscall.SIGCONT)
	}
	wait(ctx, s.beyond(beyondAgentd))
	return nil
}

// beyondHeartbeat is longer than the service waits for a heartbeat of an agentd.
const beyondHeartbeat = 70 * time.Second

// endsWithoutWorkflows checks that no workflow is left over, after agentds were told to look: what
// they could not tell the service during a fault, and forgot when they were killed, is told then.
func (l *load) endsWithoutWorkflows(t *testing.T) {
	t.Helper()
	if !withTemporal() {
		return
	}
	if said, err := l.agentds[0].run(t.Context(), "engine", "rebuild", "--config", l.agentds[0].path("agentd.yaml")); err != nil {
		t.Error(err)
	} else {
		t.Log(said)
	}
	eventually.Shows(t, "no workflow is open", func() (bool, any) {
		n, err := l.temporal.open(t.Context())
		return n == 0 && err == nil, errors.Join(err, fmt.Errorf("%d are open", n))
	})
}
