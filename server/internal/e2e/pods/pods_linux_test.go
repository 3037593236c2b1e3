//go:build more

package pods_test

import (
	"bufio"
	"bytes"
	"context"
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
					RunAsUser  int `yaml:"runAsUser"`
					RunAsGroup int `yaml:"runAsGroup"`
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
var folders = map[string]string{"toolhost-tls": "toolhost", "toolhost-nodes-tls": "nodes", "agentd-tls": "agentd", "database-ca": "authority"}

func readManifest(t *testing.T, file string) manifest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "kubernetes", file))
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		if err := documents.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Kind == "Deployment" || m.Kind == "StatefulSet" {
			return m
		}
	}
}

// pod is a running container.
type pod struct {
	t    *testing.T
	log  *bytes.Buffer
	ends chan error
	cmd  *exec.Cmd
}

// start starts the pod of a manifest, as hostname and at an address, and waits until it is ready.
// change changes its settings.
func start(t *testing.T, program, hostname, at, certificates string, env []string, change func(string) string) *pod {
	t.Helper()
	m := readManifest(t, program+".yaml")
	spec := m.Spec.Template.Spec
	of := spec.Containers[0]
	c := container{Root: t.TempDir(), Hostname: hostname, UID: spec.SecurityContext.RunAsUser, GID: spec.SecurityContext.RunAsGroup, Command: append(of.Command, of.Args...)}
	c.Env = env
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
	hosts := fmt.Sprintf("%s postgres\n%s toolhost %s.toolhost-nodes\n", databaseAt, toolhostAt, hostname)
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
				files, err := os.ReadDir(filepath.Join(certificates, folder))
				must(t, err)
				for _, f := range files {
					text, err := os.ReadFile(filepath.Join(certificates, folder, f.Name()))
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
	p := &pod{t: t, log: &bytes.Buffer{}, ends: make(chan error, 1)}
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
// capabilities and no_new_privs, and all layers of the sandbox are there. The certificates fit: a
// caller with that of agentd calls a tool, and one without does not.
func TestPods(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes containers")
	}
	certificates := filepath.Join(t.TempDir(), "certificates")
	if out, err := exec.Command("sh", filepath.Join(deploy, "certificates.sh"), certificates).CombinedOutput(); err != nil {
		t.Fatalf("certificates.sh: %v\n%s", err, out)
	}
	server, passwords := database(t, certificates)
	host := start(t, "toolhost", "toolhost-0", toolhostAt, certificates, []string{passwords["TOOLHOST_PASSWORD"]}, func(settings string) string {
		return settings + "defaults: {sandbox: {mode: required}}\n"
	})
	agent := start(t, "agentd", "agentd-5f", agentdAt, certificates, []string{passwords["AGENTD_PASSWORD"], "ANTHROPIC_API_KEY=none"}, func(settings string) string { return settings })
	call := func(identity string) (tool.Outcome, error) {
		folder := filepath.Join(certificates, identity)
		c, err := client.Dial(toolhostAt+":7443", client.IgnoreEnvironment(), client.WithTLS(client.TLS{
			CA: filepath.Join(folder, "ca.crt"), Certificate: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"), ServerName: "toolhost",
		}))
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
	if nodes := server.Do(t, "toolhost", "SELECT address FROM toolhost_nodes"); len(nodes) != 1 || nodes[0][0] != "toolhost-0.toolhost-nodes:7444" {
		t.Errorf("others reach it at %v", nodes)
	}
	agent.stop()
	host.stop()
}
