//go:build more

package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/testca"
)

// size is the number of agentds, and of toolhosts.
const size = 3

// settingsOfToolhost is the configuration of a toolhost. Plugins are killed much more often than
// they may crash elsewhere.
const settingsOfToolhost = `
records: %[1]q
listen: unix://%[2]s/socket
listeners:
  - address: %[3]s
    tls: {certificate: %[4]q, key: %[5]q, client_ca: %[6]q, client_certificate: optional}
    authentication: [certificate, token]
nodes: {listen: %[7]q, tls: {certificate: %[8]q, key: %[9]q, ca: %[10]q}}
network: {failures_per_minute: 100000}
new_plugins: allow
defaults:
  backoff: {initial: 1ms, max: 20ms}
  quarantine: {crashes: never}
plugin:
  payplugin: {sandbox: {network: true}, env: {BANK: %[11]q}}
auth:
  principals:
    - {certificate: "dns:person.example", name: person}
    - {certificate: "dns:agentd.example", name: agentd}
  bindings:
    - {role: admin, principals: ["uid:%[12]d"], tenants: [all]}
    - {role: caller, members_of: [default]}
    - {role: approver, principals: [person, agentd]}
    - {role: delegate, principals: [agentd], tenants: [default]}
`

// settingsOfAgentd is the configuration of an agentd.
const settingsOfAgentd = `
journal: %[1]q
listen: unix://%[2]s/socket
listeners:
  - {address: %[3]s, tls: {certificate: %[4]q, key: %[5]q, client_ca: %[6]q}, authentication: [certificate]}
nodes: {listen: %[10]q, tls: {certificate: %[11]q, key: %[12]q, ca: %[13]q}}
network: {failures_per_minute: 100000}
toolhost: %[7]q
state: %[2]s/state
model: scripted:%[8]s
auth:
  principals: [{certificate: "dns:person.example", name: person}]
  bindings: [{role: admin, principals: [person, "uid:%[9]d"], tenants: [all]}]
`

// world is all that runs. Its files, also the logs, are in one folder, which stays after a failure.
type world struct {
	t         *testing.T
	dir       string
	net       string // the first three numbers of all addresses
	ca        *testca.CA
	nodes     map[string]*testca.CA // by program
	database  *postgrestest.Server
	ledger    string // the name of its database
	journal   string // the name of its database
	bank      *bank
	temporal  *temporalService // nil: the engine is local
	toolhosts []*server
	agentds   []*server
	agents    []*client.AgentClient // of a person, of each agentd
}

// newWorld starts everything. script is the script of the model.
func newWorld(t *testing.T, script string) *world {
	t.Helper()
	return newWorldOf(t, script, false)
}

// newWorldOf is newWorld with programs of today, or of before the last step of the migrations.
func newWorldOf(t *testing.T, script string, older bool) *world {
	t.Helper()
	w := &world{t: t, database: postgrestest.Start(t, "max_connections=300"), ca: testca.New(t), nodes: map[string]*testca.CA{"toolhost": testca.New(t), "agentd": testca.New(t)}}
	w.ledger, w.journal = w.database.Create(t), w.database.Create(t)
	dir, err := os.MkdirTemp("/tmp", "fleet-") // the length of a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	w.dir = dir
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("-fleet.seed=%d failed; the logs are in %s", *seed, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// No program chooses a port of such an address by itself, so each one is free after a kill.
	w.net = fmt.Sprintf("127.%d.%d", 1+rand.IntN(254), rand.IntN(256))
	w.bank = openBank(t, w.net+".200:7000")
	w.write("script.yaml", script)
	if withTemporal() {
		w.temporal = w.startTemporal()
	}
	for i := range size {
		w.toolhosts = append(w.toolhosts, w.newServer("toolhost", i, 10))
	}
	for i := range size {
		w.agentds = append(w.agentds, w.newServer("agentd", i, 20))
	}
	t.Cleanup(w.stop)
	for _, s := range w.servers() {
		s.older = older
		if err := s.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	certificate, key := w.ca.Files(t, "person.example")
	for _, s := range w.agentds {
		c, err := client.DialAgent(s.address, client.WithTLS(client.TLS{CA: w.ca.Path, Certificate: certificate, Key: key}), client.IgnoreEnvironment())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		w.agents = append(w.agents, c)
	}
	return w
}

// write writes a file into the folder, and returns its path.
func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// newServer makes the files of a server. The last number of its address is first + i.
func (w *world) newServer(program string, i, first int) *server {
	w.t.Helper()
	name, ip := fmt.Sprintf("%s-%d", program, i+1), fmt.Sprintf("%s.%d", w.net, first+i)
	s := &server{name: name, program: program, home: filepath.Join(w.dir, name), address: ip + ":7443", wire: newWire(w.t, w.database.Folder())}
	if err := os.MkdirAll(s.path("work"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	url := func(database string) string {
		return fmt.Sprintf("postgres://postgres@/%s?host=%s", database, url.QueryEscape(s.wire.folder))
	}
	certificate, key := w.ca.Files(w.t, ip, program+".example")
	ca := w.nodes[program]
	among, itsKey := ca.Files(w.t, ip)
	if program == "toolhost" {
		config := w.write(name+"/toolhost.yaml", fmt.Sprintf(settingsOfToolhost, url(w.ledger), s.home, s.address, certificate, key, w.ca.Path,
			ip+":7444", among, itsKey, ca.Path, w.bank.url, os.Getuid()))
		s.args = []string{"serve", "--config", config, "--plugins", filepath.Join(bin, "plugins"), "--state", s.path("state"), "--workspace", s.path("work")}
		return s
	}
	var toolhosts []string
	for _, t := range w.toolhosts {
		toolhosts = append(toolhosts, t.address)
	}
	settings := fmt.Sprintf(settingsOfAgentd, url(w.journal), s.home, s.address, certificate, key, w.ca.Path,
		strings.Join(toolhosts, ","), filepath.Join(w.dir, "script.yaml"), os.Getuid(), ip+":7444", among, itsKey, ca.Path)
	if w.temporal != nil {
		settings += w.temporal.settings()
	}
	config := w.write(name+"/agentd.yaml", settings)
	s.args = []string{"serve", "--config", config}
	s.env = []string{"TOOLHOST_TLS_CA=" + w.ca.Path, "TOOLHOST_TLS_CERT=" + certificate, "TOOLHOST_TLS_KEY=" + key}
	return s
}

func (w *world) servers() []*server {
	return append(append([]*server(nil), w.toolhosts...), w.agentds...)
}

// each calls do for each server at the same time.
func each(servers []*server, do func(*server)) {
	var group sync.WaitGroup
	for _, s := range servers {
		group.Go(func() { do(s) })
	}
	group.Wait()
}

// stop stops all servers that run, the agentds first, and checks that no process of them is left.
func (w *world) stop() {
	for _, servers := range [][]*server{w.agentds, w.toolhosts} {
		each(servers, func(s *server) {
			if s.cmd == nil {
				return
			}
			s.wire.heal()
			s.signal(syscall.SIGCONT)
			if code := s.stop(); code != 0 {
				w.t.Errorf("%s ended with the exit code %d", s.name, code)
			}
		})
	}
	eventually.Shows(w.t, "no process is left", func() (bool, any) {
		left := w.processes()
		return len(left) == 0, left
	})
}

// processes returns the command lines of all processes that name the folder.
func (w *world) processes() (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range files {
		if text, _ := os.ReadFile(file); strings.Contains(string(text), w.dir+"/") {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// count returns the number that a query of a database returns.
func (w *world) count(database, query string) string {
	w.t.Helper()
	return w.database.Do(w.t, database, query)[0][0]
}

// anyAgent returns the client of an agentd.
func (w *world) anyAgent() *client.AgentClient { return w.agents[rand.IntN(size)] }

// brief bounds one request, because an agentd may be stopped.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patienceOfRequest)
}
