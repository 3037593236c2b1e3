package host_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// bounded returns a host with a process for each principal.
func bounded(t *testing.T, quotas throttle.Quotas, total int) *rig {
	return newRig(t, hosttest.Tools(), func(cfg *host.Config) {
		cfg.Quotas = &quotas
		cfg.Lifecycle = func(string) lifecycle.Config {
			return lifecycle.Config{Isolation: lifecycle.PerPrincipal, MaxTotal: total}
		}
	})
}

// occupy starts a call that lasts until the end of the test, and waits until it has a process.
func occupy(t *testing.T, r *rig, principal string) tool.Execution {
	t.Helper()
	c := call("wait", fmt.Sprintf(`{"key":%q}`, principal))
	c.Principal = principal
	e, err := r.Open(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	time.Sleep(100 * time.Millisecond) // a launch may have to wait for memory
	synctest.Wait()
	return e
}

// echo makes a call that needs a process for a moment.
func echo(t *testing.T, r *rig, principal string) *tool.Error {
	t.Helper()
	c := call("echo", `{"text":"x"}`)
	c.Principal = principal
	return failureOf(t.Context(), t, r, c)
}

// owners returns how many processes each tenant has.
func owners(t *testing.T, r *rig) map[string]int {
	t.Helper()
	synctest.Wait()
	instances, err := r.Instances(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, in := range instances {
		counts[in.Tenant]++
	}
	return counts
}

func wantRefused(t *testing.T, err *tool.Error, text string) {
	t.Helper()
	if err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter <= 0 || !strings.Contains(err.Message, text) || !strings.Contains(err.Message, "nothing was executed; try again in") {
		t.Errorf("got %v, want a refusal with %q", err, text)
	}
}

// A tenant with a full quota of processes loses idle ones of its own first. If all are busy, the
// call waits and is refused. Other tenants do not notice, and the plugin is not quarantined.
func TestQuotaOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bounded(t, throttle.Quotas{Tenants: map[string]throttle.Quota{"red": {Processes: 2}}}, 0)
		for i := range 20 {
			if err := echo(t, r, fmt.Sprintf("red/p%d", i)); err != nil {
				t.Fatalf("call %d of red, while its processes are idle: %v", i, err)
			}
			if err := echo(t, r, fmt.Sprintf("blue/p%d", i%4)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[string]int{"red": 2, "blue": 4}, owners(t, r)); diff != "" {
			t.Errorf("processes by tenant (-want +got):\n%s", diff)
		}
		first := occupy(t, r, "red/ada")
		occupy(t, r, "red/bob")
		for range 7 {
			began := time.Now()
			wantRefused(t, echo(t, r, "red/eve"), "the tenant red has 2 processes of plugins, and its quota processes is 2")
			if waited := time.Since(began); waited > 5*time.Second {
				t.Errorf("a call waited for %v", waited)
			}
			if err := echo(t, r, "blue/eve"); err != nil {
				t.Error(err)
			}
		}
		waiting := make(chan *tool.Error, 1)
		time.Sleep(time.Second)
		go func() { waiting <- echo(t, r, "red/eve") }()
		synctest.Wait()
		first.Cancel("enough")
		if err := <-waiting; err != nil {
			t.Errorf("a call that waited for a process that became idle: %v", err)
		}
		if plugins, _ := r.Plugins(t.Context()); plugins[0].State != tool.PluginEnabled {
			t.Errorf("the plugin is %s: %s", plugins[0].State, plugins[0].Reason)
		}
	})
}

// The quota of a principal counts the processes that serve only this principal. The quota of memory
// counts what the processes use.
func TestQuotasOfPrincipalAndMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), func(cfg *host.Config) {
			cfg.Quotas = &throttle.Quotas{Tenants: map[string]throttle.Quota{"green": {MemoryBytes: 150 << 20}}, Principals: map[string]throttle.Quota{"red/ada": {Processes: 1}, "red/mem": {MemoryBytes: 1}}}
			cfg.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{Isolation: lifecycle.PerSession} }
		})
		in := func(principal, session, name string) *tool.Error {
			c := call(name, `{"text":"x"}`)
			c.Principal, c.Session = principal, session
			return failureOf(t.Context(), t, r, c)
		}
		for _, principal := range []string{"red/ada", "red/mem", "red/bob", "green/ada"} {
			for i := range 4 {
				if err := in(principal, fmt.Sprint(i), "echo"); err != nil {
					t.Errorf("call %d of %s: %v", i, principal, err)
				}
			}
		}
		// 1 of ada, 1 of mem, 4 of bob; 2 of green with 100 MiB each, of which the second began below
		// 150
		if diff := cmp.Diff(map[string]int{"red": 6, "green": 2}, owners(t, r)); diff != "" {
			t.Errorf("processes by tenant (-want +got):\n%s", diff)
		}
		occupy(t, r, "red/ada")
		wantRefused(t, in("red/ada", "other", "echo"), "the principal red/ada has 1 processes of plugins, and its quota processes is 1")
		occupy(t, r, "red/mem")
		wantRefused(t, in("red/mem", "other", "echo"), "the processes of the principal red/mem use 100 MiB of memory, and its quota memory is 0 MiB")
		for _, principal := range []string{"green/bob", "green/eve"} {
			occupy(t, r, principal)
		}
		wantRefused(t, in("green/ada", "other", "echo"), "the processes of the tenant green use 200 MiB of memory, and its quota memory is 150 MiB")
		if err := in("red/bob", "other", "echo"); err != nil {
			t.Error(err)
		}
	})
}

// The processes of a plugin are divided among the tenants with calls. A tenant with more than its
// part gives up a process when one of its calls ends, although further calls of it wait.
func TestTenantsShareThePlacesOfAPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bounded(t, throttle.Quotas{}, 4)
		for i := range 8 {
			if err := echo(t, r, fmt.Sprintf("blue/p%d", i)); err != nil {
				t.Errorf("call %d of a tenant whose own processes are idle: %v", i, err)
			}
		}
		var red []tool.Execution
		for i := range 4 {
			red = append(red, occupy(t, r, fmt.Sprintf("red/p%d", i)))
		}
		wantRefused(t, echo(t, r, "blue/ada"), `has 4 processes for all tenants together, which is its max_total_instances`)
		time.Sleep(time.Second)
		queued := make(chan *tool.Error, 3)
		for i := range 2 {
			go func() { queued <- echo(t, r, fmt.Sprintf("red/q%d", i)) }()
			synctest.Wait()
		}
		blue := make(chan *tool.Error, 1)
		go func() { blue <- echo(t, r, "blue/ada") }()
		time.Sleep(100 * time.Millisecond)
		for _, e := range red {
			e.Cancel("enough")
			synctest.Wait()
			select {
			case err := <-blue:
				if err != nil {
					t.Errorf("the call of blue: %v", err)
				}
				return
			default:
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error("the call of blue got no process")
	})
}

// If there are more tenants than processes of a plugin, they take turns.
func TestTenantsTakeTurnsWithTheOnlyProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := bounded(t, throttle.Quotas{}, 1)
		stop := make(chan struct{})
		ended := make(chan int, 3)
		for _, tenant := range []string{"red", "blue", "green"} {
			go func() { // ends with stop
				good := 0
				for {
					select {
					case <-stop:
						ended <- good
						return
					default:
					}
					if err := echo(t, r, tenant+"/ada"); err == nil {
						good++
					} else if err.Kind != tool.KindRateLimited {
						t.Error(err)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		time.Sleep(time.Minute)
		close(stop)
		for range 3 {
			if good := <-ended; good < 100 {
				t.Errorf("a tenant made %d calls in a minute", good)
			}
		}
		if n := len(owners(t, r)); n != 1 {
			t.Errorf("%d processes run", n)
		}
	})
}
