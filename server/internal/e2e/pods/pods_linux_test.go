//go:build more

package pods_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/tool"
)

// The addresses at which the containers listen, in place of those of pods.
const (
	toolhostAt = "127.84.77.1"
	agentdAt   = "127.84.77.2"
	databaseAt = "127.84.77.3"
)

// deploy is the folder with the manifests.
const deploy = "../../../../deploy"

// bin is the folder with the programs.
var bin string

func TestMain(m *testing.M) {
	if text := os.Getenv(containerEnv); text != "" {
		fmt.Fprintln(os.Stderr, enter(text))
		os.Exit(1)
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (code int, err error) {
	if bin, err = os.MkdirTemp("", "toolhost-pods-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	ctx := context.Background()
	err = errors.Join(programs.Build(ctx, bin, "./cmd/toolhost", "./cmd/agentd"), programs.Build(ctx, filepath.Join(bin, "plugins"), "./plugins/calculator"))
	if err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// manifest is what a pod needs of a Deployment or a StatefulSet.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				SecurityContext struct {
					RunAsUser      int                   `yaml:"runAsUser"`
					RunAsGroup     int                   `yaml:"runAsGroup"`
					SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
				} `yaml:"securityContext"`
				Containers []struct {
					Command, Args []string
					Env           []struct{ Name, Value string }
					VolumeMounts  []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
					ReadinessProbe struct {
						HTTPGet struct{ Path string } `yaml:"httpGet"`
					} `yaml:"readinessProbe"`
				}
				Volumes []struct {
					Name   string
					Secret struct {
						SecretName string `yaml:"secretName"`
					}
					ConfigMap struct{ Name string } `yaml:"configMap"`
				}
			}
		}
	}
}

// folders are where deploy/README.md takes the content of Secrets and ConfigMaps from.
var folders = map[string]string{
	"toolhost-tls": "toolhost", "toolhost-nodes-tls": "nodes", "agentd-tls": "agentd", "agentd-nodes-tls": "agentd-nodes", "database-ca": "authority",
}

// readManifest returns the pods of a file: with the patches of the component restricted/, if they
// are asked for.
func readManifest(t *testing.T, file string, restricted bool) (m manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "kubernetes", file))
	must(t, err)
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var of map[string]any
		must(t, documents.Decode(&of))
		if of["kind"] != "Deployment" && of["kind"] != "StatefulSet" {
			continue
		}
		if restricted {
			patch(t, of)
		}
		text, err := yaml.Marshal(of)
		must(t, err, yaml.Unmarshal(text, &m))
		return m
	}
}

// patch changes a document as the component restricted/ does.
func patch(t *testing.T, document map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "kubernetes/restricted/kustomization.yaml"))
	must(t, err)
	var component struct {
		Patches []struct {
			Target struct{ Kind string }
			Patch  string
		}
	}
	must(t, yaml.Unmarshal(text, &component))
	for _, p := range component.Patches {
		var operations []struct{ Op, Path, Value string }
		must(t, yaml.Unmarshal([]byte(p.Patch), &operations))
		for _, o := range operations {
			if p.Target.Kind != document["kind"] {
				continue
			}
			names := strings.Split(o.Path, "/")[1:]
			at, last := document, len(names)-1
			for i := 0; i < last; i++ {
				if list, ok := at[names[i]].([]any); ok {
					n, err := strconv.Atoi(names[i+1])
					must(t, err)
					at, i = list[n].(map[string]any), i+1
				} else {
					at = at[names[i]].(map[string]any)
				}
			}
			if at[names[last]] == nil {
				t.Fatalf("the component changes %s, which does not exist", o.Path)
			}
			if delete(at, names[last]); o.Op == "replace" {
				at[names[last]] = o.Value
			}
		}
	}
}

// pod is a running container.
type pod struct {
	of   container
	t    *testing.T
	log  *bytes.Buffer
	ends chan error
	cmd  *exec.Cmd
}

// cluster is what starts the pods.
type cluster struct {
	certificates string // the folder that certificates.sh made
	restricted   bool   // whether it has the component restricted/
}

// start starts the pod of a manifest, as hostname and at an address, and waits until it is ready.
// change changes its settings.
func (k *cluster) start(t *testing.T, program, hostname, at string, env []string, change func(string) string) *pod {
	t.Helper()
	m := readManifest(t, program+".yaml", k.restricted)
	spec := m.Spec.Template.Spec
	of := spec.Containers[0]
	c := container{
		Root: t.TempDir(), Hostname: hostname, UID: spec.SecurityContext.RunAsUser, GID: spec.SecurityContext.RunAsGroup, Command: append(of.Command, of.Args...),
		Filtered: spec.SecurityContext.SeccompProfile.Type == "RuntimeDefault", Env: env,
	}
	for _, e := range of.Env {
		if e.Value != "" {
			c.Env = append(c.Env, e.Name+"="+e.Value)
		}
	}
	// Those of the image; the first one of a name counts.
	c.Env = append(c.Env, "PATH=/usr/bin", "HOME=/var/lib/toolhost", "XDG_STATE_HOME=/var/lib", "XDG_CONFIG_HOME=/etc")
	in := func(path string) string { return filepath.Join(c.Root, path) }
	must(t, os.Chmod(c.Root, 0o755))
	for _, folder := range []string{"dev", "proc", "sys", "etc", "usr/bin", "usr/lib/toolhost"} {
		must(t, os.MkdirAll(in(folder), 0o755))
	}
	for _, name := range []string{"toolhost", "agentd"} {
		must(t, os.Link(filepath.Join(bin, name), in("usr/bin/"+name)))
	}
	must(t, os.CopyFS(in("usr/lib/toolhost/plugins"), os.DirFS(filepath.Join(bin, "plugins"))))
	hosts := fmt.Sprintf("%s %s\n%s postgres\n%s toolhost %s.toolhost-nodes\n", at, hostname, databaseAt, toolhostAt, hostname) // the first line is the kubelet's
	must(t, os.WriteFile(in("etc/hosts"), []byte(hosts), 0o644))
	must(t, os.WriteFile(in("etc/passwd"), fmt.Appendf(nil, "toolhost:x:%d:%d::/:/\n", c.UID, c.GID), 0o644))
	for _, v := range of.VolumeMounts {
		must(t, os.MkdirAll(in(v.MountPath), 0o755))
		if !v.ReadOnly { // as a volume with an fsGroup
			c.Writable = append(c.Writable, v.MountPath)
			must(t, os.Chown(in(v.MountPath), 0, c.GID), os.Chmod(in(v.MountPath), 0o775|os.ModeSetgid))
		}
	}
	for _, v := range spec.Volumes {
		for _, mount := range of.VolumeMounts {
			if folder := folders[v.Secret.SecretName+v.ConfigMap.Name]; mount.Name == v.Name && folder != "" {
				files, err := os.ReadDir(filepath.Join(k.certificates, folder))
				must(t, err)
				for _, f := range files {
					text, err := os.ReadFile(filepath.Join(k.certificates, folder, f.Name()))
					to := filepath.Join(in(mount.MountPath), f.Name())
					must(t, err, os.WriteFile(to, text, 0o440), os.Chown(to, 0, c.GID))
				}
			}
		}
	}
	settings, err := os.ReadFile(filepath.Join(deploy, "kubernetes/config", program+".yaml"))
	must(t, err)
	must(t, os.WriteFile(in("etc/toolhost/"+program+".yaml"), []byte(change(strings.ReplaceAll(string(settings), "0.0.0.0", at))), 0o644))
	return run(t, c, at, of.ReadinessProbe.HTTPGet.Path, map[string]int{"toolhost": 9464, "agentd": 9465}[program])
}

func run(t *testing.T, c container, at, ready string, port int) *pod {
	t.Helper()
	text, err := json.Marshal(c)
	must(t, err)
	p := &pod{of: c, t: t, log: &bytes.Buffer{}, ends: make(chan error, 1)}
	p.cmd = exec.Command("/proc/self/exe")
	p.cmd.Env = []string{containerEnv + "=" + string(text)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	must(t, err, p.cmd.Start())
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.kill()
		t.Fatalf("%s did not start: %v\n%s", c.Command, err, p.log)
	}
	t.Log(line)
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, out)
		p.ends <- p.cmd.Wait()
	}()
	eventually.Shows(t, "the pod is ready", func() (bool, any) {
		response, err := http.Get("http://" + at + ":" + strconv.Itoa(port) + ready)
		if err != nil {
			return false, err
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK, response.Status
	})
	return p
}

// kill ends the container with all its processes: the first one of its PID namespace.
func (p *pod) kill() { _ = p.cmd.Process.Kill() }

// exec executes a command in the container, as `kubectl exec` does, and returns its output.
func (p *pod) exec(command ...string) []byte {
	p.t.Helper()
	enter := []string{"--target=" + strconv.Itoa(p.cmd.Process.Pid), "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "--setuid=" + strconv.Itoa(p.of.UID), "--setgid=" + strconv.Itoa(p.of.GID), "--"}
	cmd := exec.CommandContext(p.t.Context(), "nsenter", append(enter, command...)...)
	cmd.Env = p.of.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", command, err, &stderr)
	}
	return out
}

// stop stops the container as the kubelet does.
func (p *pod) stop() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	if err := <-p.ends; err != nil {
		p.t.Errorf("after SIGTERM: %v\n%s", err, p.log)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// database starts a PostgreSQL with the certificate and the passwords of certificates.sh, and with
// the databases of Compose. It returns the passwords as environment variables.
func database(t *testing.T, certificates string) (server *postgrestest.Server, passwords map[string]string) {
	t.Helper()
	server = postgrestest.Start(t, "listen_addresses="+databaseAt)
	certificate, err := os.ReadFile(filepath.Join(certificates, "database/tls.crt"))
	must(t, err)
	key, err := os.ReadFile(filepath.Join(certificates, "database/tls.key"))
	must(t, err)
	server.ServeTLS(t, certificate, key)
	text, err := os.ReadFile(filepath.Join(certificates, "passwords.env"))
	must(t, err)
	create := exec.Command("sh", filepath.Join(deploy, "compose-database.sh"))
	create.Env = append(os.Environ(), "PGHOST="+server.Folder())
	passwords = map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		passwords[name] = "PGPASSWORD=" + value
		create.Env = append(create.Env, name+"="+value)
	}
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("compose-database.sh: %v\n%s", err, out)
	}
	return server, passwords
}

// Each command of the manifests runs as an ordinary user, with a read-only root file system, no
// capabilities and no_new_privs. The certificates fit: a caller with that of agentd calls a tool,
// and one without does not. All layers of the sandbox are there, or, with the component
// restricted/, those of the table in deploy/README.md.
func TestPods(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes containers")
	}
	for name, restricted := range map[string]bool{"kubernetes": false, "restricted": true} {
		t.Run(name, func(t *testing.T) { testPods(t, restricted) })
	}
}

func testPods(t *testing.T, restricted bool) {
	k := &cluster{certificates: filepath.Join(t.TempDir(), "certificates"), restricted: restricted}
	if out, err := exec.Command("sh", filepath.Join(deploy, "certificates.sh"), k.certificates).CombinedOutput(); err != nil {
		t.Fatalf("certificates.sh: %v\n%s", err, out)
	}
	server, passwords := database(t, k.certificates)
	host := k.start(t, "toolhost", "toolhost-0", toolhostAt, []string{passwords["TOOLHOST_PASSWORD"]}, func(settings string) string {
		if restricted {
			return settings
		}
		return settings + "defaults: {sandbox: {mode: required}}\n"
	})
	agent := k.start(t, "agentd", "agentd-5f", agentdAt, []string{passwords["AGENTD_PASSWORD"], "ANTHROPIC_API_KEY=none"}, func(settings string) string {
		return strings.Replace(settings, "0.0.0.0:7445", agentdAt+":7445", 1) // its pod has no other address than one of loopback
	})
	call := func(identity string) (tool.Outcome, error) {
		c, err := client.Dial(toolhostAt+":7443", client.IgnoreEnvironment(), client.WithTLS(k.identity(identity, "toolhost")))
		must(t, err)
		defer c.Close()
		return c.Call(t.Context(), tool.Call{ID: "first-" + identity, Tool: "calculator", Arguments: []byte(`{"expression":"6*7"}`)})
	}
	if outcome, err := call("agentd"); err != nil || outcome.Err != nil || outcome.Result.Text() != "42" {
		t.Errorf("a call of agentd: %+v, %v\n%s", outcome, err, host.log)
	}
	if outcome, err := call("client"); err == nil && outcome.Err == nil {
		t.Error("a client of agentd calls tools")
	}
	checkLayers(t, host, restricted)
	if nodes := server.Do(t, "toolhost", "SELECT address FROM toolhost_nodes"); len(nodes) != 1 || nodes[0][0] != "toolhost-0.toolhost-nodes:7444" {
		t.Errorf("others reach it at %v", nodes)
	}
	checkNodesOfAgentd(t, k, server)
	agent.stop()
	host.stop()
}

// identity returns the files of a certificate, for a server with a name.
func (k *cluster) identity(name, server string) client.TLS {
	folder := filepath.Join(k.certificates, name)
	return client.TLS{CA: filepath.Join(folder, "ca.crt"), Certificate: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"), ServerName: server}
}

// checkNodesOfAgentd checks that the others find an agentd at the address of its pod, that its
// metrics count them, and that it admits those of its own CA alone.
func checkNodesOfAgentd(t *testing.T, k *cluster, server *postgrestest.Server) {
	t.Helper()
	nodes := server.Do(t, "agentd", "SELECT address FROM agentd_nodes")
	if len(nodes) != 1 || nodes[0][0] != agentdAt+":7445" {
		t.Fatalf("others reach the agentd at %v", nodes)
	}
	response, err := http.Get("http://" + agentdAt + ":9465/metrics")
	must(t, err)
	metrics, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	for _, want := range []string{`agentd_nodes{state="live"} 1`, `agentd_nodes{state="silent"} 0`, `agentd_runs{state="parked"} 0`} {
		if err != nil || !bytes.Contains(metrics, []byte(want)) {
			t.Errorf("its metrics do not have %s, %v", want, err)
		}
	}
	for identity, want := range map[string]bool{"agentd-nodes": true, "agentd": false, "nodes": false, "client": false} {
		files := k.identity("agentd-nodes", "")
		authority, err := os.ReadFile(files.CA)
		must(t, err)
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
		own := k.identity(identity, "")
		certificate, err := tls.LoadX509KeyPair(own.Certificate, own.Key)
		must(t, err)
		c, err := tls.Dial("tcp", nodes[0][0], &tls.Config{RootCAs: roots, ServerName: "agentd-nodes", Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
		if err == nil {
			_, err = c.Read(make([]byte, 1)) // the server refuses a certificate after the client's handshake
			_ = c.Close()
		}
		if (err == nil) != want {
			t.Errorf("an agentd with the certificate of %s: %v", identity, err)
		}
	}
}

// checkLayers compares the layers of the calculator's sandbox, which `toolhost ps` shows, with what
// deploy/README.md says.
func checkLayers(t *testing.T, host *pod, restricted bool) {
	t.Helper()
	var instances []struct{ Sandbox tool.Sandbox }
	must(t, json.Unmarshal(host.exec("/usr/bin/toolhost", "ps", "--wide", "-o", "json"), &instances))
	if len(instances) != 1 {
		t.Fatalf("the processes of plugins are %+v", instances)
	}
	layers := map[string]tool.SandboxLayer{}
	for _, layer := range instances[0].Sandbox.Layers {
		layers[layer.Name] = layer
	}
	want := map[string]string{"files": "mount namespace", "ipc": "IPC namespace", "network": "network namespace"}
	if restricted {
		want = map[string]string{"files": "", "ipc": "seccomp", "network": "seccomp"}
	}
	for name, mechanism := range want {
		if got := layers[name]; got.Mechanism != mechanism || got.Effective != (mechanism != "") {
			t.Errorf("the layer %s is %+v, want %q", name, got, mechanism)
		}
	}
	for _, name := range []string{"landlock", "privileges", "syscalls"} {
		if !layers[name].Effective {
			t.Errorf("the layer %s is gone: %+v", name, layers[name])
		}
	}
}
