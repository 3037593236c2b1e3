package deploy

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	composetypes "github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	strict "sigs.k8s.io/yaml"
)

// objects are what kustomize makes of a folder, by kind and name.
type objects map[string]any

// kinds are those that the manifests may have. Each decodes a document strictly.
var kinds = map[string]func() any{
	"Service":             func() any { return &corev1.Service{} },
	"ServiceAccount":      func() any { return &corev1.ServiceAccount{} },
	"ConfigMap":           func() any { return &corev1.ConfigMap{} },
	"StatefulSet":         func() any { return &appsv1.StatefulSet{} },
	"Deployment":          func() any { return &appsv1.Deployment{} },
	"PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
	"NetworkPolicy":       func() any { return &networkingv1.NetworkPolicy{} },
}

// build builds a kustomization as `kubectl apply -k` does.
func build(t *testing.T, files filesys.FileSystem, folder string) objects {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	for _, r := range made.Resources() {
		text := r.MustYaml()
		decode := kinds[r.GetKind()]
		if decode == nil {
			t.Fatalf("the kind %s is unknown here", r.GetKind())
		}
		object := decode()
		if err := strict.UnmarshalStrict([]byte(text), object); err != nil {
			t.Fatalf("%s %s: %v", r.GetKind(), r.GetName(), err)
		}
		all[r.GetKind()+"/"+r.GetName()] = object
	}
	return all
}

// restricted returns a folder with a kustomization that has the component restricted/.
func restricted(t *testing.T) (filesys.FileSystem, string) {
	t.Helper()
	files := filesys.MakeFsInMemory()
	err := filepath.WalkDir("kubernetes", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, files.WriteFile("/"+filepath.ToSlash(path), text))
	})
	if err == nil {
		err = files.WriteFile("/mine/kustomization.yaml", []byte("resources: [../kubernetes]\ncomponents: [../kubernetes/restricted]\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return files, "/mine"
}

// workload is what the tests read of a Deployment or a StatefulSet.
type workload struct {
	name     string
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
	claims   []corev1.PersistentVolumeClaim
}

func (w *workload) container() *corev1.Container { return &w.template.Spec.Containers[0] }

func workloads(t *testing.T, all objects) []workload {
	t.Helper()
	var found []workload
	for _, o := range all {
		switch o := o.(type) {
		case *appsv1.StatefulSet:
			found = append(found, workload{o.Name, o.Spec.Selector, o.Spec.Template, o.Spec.VolumeClaimTemplates})
			if s, ok := all["Service/"+o.Spec.ServiceName].(*corev1.Service); !ok || s.Spec.ClusterIP != corev1.ClusterIPNone || !s.Spec.PublishNotReadyAddresses {
				t.Errorf("%s has no headless service %s with the names of its pods", o.Name, o.Spec.ServiceName)
			}
		case *appsv1.Deployment:
			found = append(found, workload{o.Name, o.Spec.Selector, o.Spec.Template, nil})
		}
	}
	if len(found) != 2 {
		t.Fatalf("there are %d workloads", len(found))
	}
	return found
}

func selects(t *testing.T, s *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(labels.Set(of))
}

func hasPort(c *corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		return p.Name == port.StrVal && port.Type == intstr.String || p.ContainerPort == port.IntVal && port.Type == intstr.Int
	})
}

// settings are what the tests read of toolhost.yaml and agentd.yaml.
type settings struct {
	Listeners []struct{ Address string }
	Nodes     struct {
		Listen, Address string
		TLS             struct {
			ServerName string `yaml:"server_name"`
		} `yaml:"tls"`
	}
	Toolhost  string
	Telemetry struct{ Listen string }
}

// mounted returns the settings of a workload: the file that --config names, in a ConfigMap.
func mounted(t *testing.T, all objects, w *workload) (s settings, text string) {
	t.Helper()
	c := w.container()
	at := slices.Index(c.Args, "--config")
	if at < 0 || at+1 >= len(c.Args) {
		t.Fatalf("%s has no --config", w.name)
	}
	for _, m := range c.VolumeMounts {
		key, below := strings.CutPrefix(c.Args[at+1], m.MountPath+"/")
		if !below {
			continue
		}
		for _, v := range w.template.Spec.Volumes {
			if v.Name == m.Name && v.ConfigMap != nil {
				data := all["ConfigMap/"+v.ConfigMap.Name].(*corev1.ConfigMap).Data
				if text = data[key]; text == "" {
					t.Fatalf("%s has no %s", v.ConfigMap.Name, key)
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s, text
}

// Each document is one of Kubernetes, and everything that it names exists: ports, labels, volumes,
// files and services.
func TestKubernetes(t *testing.T) {
	files, folder := restricted(t)
	for name, all := range map[string]objects{"kubernetes": build(t, filesys.MakeFsOnDisk(), "kubernetes"), "restricted": build(t, files, folder)} {
		t.Run(name, func(t *testing.T) {
			for _, w := range workloads(t, all) {
				checkWorkload(t, all, &w)
				checkSecurity(t, &w, name == "restricted")
			}
			checkPolicies(t, all)
		})
	}
}

func checkWorkload(t *testing.T, all objects, w *workload) {
	t.Helper()
	c, pod := w.container(), w.template.Labels
	if !selects(t, w.selector, pod) || len(w.template.Spec.Containers) != 1 {
		t.Errorf("%s does not select its pods", w.name)
	}
	if budget := all["PodDisruptionBudget/"+w.name].(*policyv1.PodDisruptionBudget); !selects(t, budget.Spec.Selector, pod) {
		t.Errorf("the budget %s selects other pods", w.name)
	}
	if policy := all["NetworkPolicy/"+w.name].(*networkingv1.NetworkPolicy); !selects(t, &policy.Spec.PodSelector, pod) || len(policy.Spec.PolicyTypes) != 2 {
		t.Errorf("the policy %s selects other pods", w.name)
	}
	if all["ServiceAccount/"+w.template.Spec.ServiceAccountName] == nil {
		t.Errorf("%s has no account", w.name)
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p == nil || p.HTTPGet == nil || !hasPort(c, p.HTTPGet.Port) || p.HTTPGet.Path != "/readyz" && p.HTTPGet.Path != "/healthz" {
			t.Errorf("%s has the probe %+v", w.name, p)
		}
	}
	volumes := map[string]bool{}
	for _, v := range w.template.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, v := range w.claims {
		volumes[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s mounts %s, which is no volume", w.name, m.Name)
		}
		delete(volumes, m.Name)
	}
	if len(volumes) > 0 {
		t.Errorf("%s does not mount %v", w.name, volumes)
	}
	for _, e := range c.Env {
		if strings.HasPrefix(e.Value, "/") && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path.Dir(e.Value) || m.MountPath == e.Value }) {
			t.Errorf("%s: %s names %s, which is not mounted", w.name, e.Name, e.Value)
		}
	}
	for name, o := range all {
		s, ok := o.(*corev1.Service)
		if !ok || !selects(t, &metav1.LabelSelector{MatchLabels: s.Spec.Selector}, pod) {
			continue
		}
		for _, p := range s.Spec.Ports {
			if !hasPort(c, p.TargetPort) {
				t.Errorf("%s: the port %s does not exist", name, p.TargetPort.String())
			}
		}
	}
	checkSettings(t, all, w)
}

// checkSettings compares the addresses in the settings with the ports and services.
func checkSettings(t *testing.T, all objects, w *workload) {
	t.Helper()
	s, text := mounted(t, all, w)
	listens := map[string]string{"grpc": s.Listeners[0].Address, "metrics": s.Telemetry.Listen, "nodes": s.Nodes.Listen}
	for _, p := range w.container().Ports {
		want := "0.0.0.0:" + (&intstr.IntOrString{IntVal: p.ContainerPort}).String()
		if listens[p.Name] != want {
			t.Errorf("%s listens for %s at %q, and the port is %s", w.name, p.Name, listens[p.Name], want)
		}
	}
	for _, names := range []string{s.Nodes.Address, s.Toolhost} {
		if names == "" {
			continue
		}
		if _, port, ofPod := strings.Cut(names, "{ip}:"); ofPod {
			if names != "{ip}:"+port || s.Nodes.Listen != "0.0.0.0:"+port || s.Nodes.TLS.ServerName != w.name+"-nodes" {
				t.Errorf("%s is reached at %s, and has %+v", w.name, names, s.Nodes)
			}
			continue
		}
		host, port, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(names, "dns:///"), "{hostname}."), ":")
		service, ok := all["Service/"+host].(*corev1.Service)
		if !ok || service.Spec.ClusterIP != corev1.ClusterIPNone || (&intstr.IntOrString{IntVal: service.Spec.Ports[0].Port}).String() != port {
			t.Errorf("%s names %s, which is no headless service with this port", w.name, names)
		}
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,{}=&\n", r) }) {
		if !strings.HasPrefix(word, "/run/") {
			continue
		}
		if !slices.ContainsFunc(w.container().VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path.Dir(word) }) {
			t.Errorf("%s names %s, which is not mounted", w.name, word)
		}
	}
}

// checkSecurity checks that a pod has no more rights than the sandbox of plugins needs.
func checkSecurity(t *testing.T, w *workload, restricted bool) {
	t.Helper()
	spec, c := &w.template.Spec, w.container().SecurityContext
	if !*spec.SecurityContext.RunAsNonRoot || *spec.SecurityContext.RunAsUser != 65532 || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem ||
		!slices.Equal(c.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(c.Capabilities.Add) > 0 || *spec.AutomountServiceAccountToken {
		t.Errorf("%s has the security context %+v", w.name, c)
	}
	sandboxed := w.name == "toolhost" && !restricted
	if (spec.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault) == sandboxed ||
		(spec.HostUsers != nil && !*spec.HostUsers) != sandboxed || c.ProcMount != nil ||
		(spec.SecurityContext.AppArmorProfile != nil) != sandboxed {
		t.Errorf("%s does not permit exactly what the sandbox needs: %+v", w.name, spec.SecurityContext)
	}
}

// checkPolicies checks that what a policy lets out to pods here is let in there, and the reverse.
func checkPolicies(t *testing.T, all objects) {
	t.Helper()
	type way struct{ from, to, port string }
	out, in := map[way]bool{}, map[way]bool{}
	const name = "app.kubernetes.io/name"
	for _, w := range workloads(t, all) {
		policy := all["NetworkPolicy/"+w.name].(*networkingv1.NetworkPolicy)
		for _, rule := range policy.Spec.Egress {
			for _, peer := range rule.To {
				if peer.PodSelector != nil && all["NetworkPolicy/"+peer.PodSelector.MatchLabels[name]] != nil {
					out[way{w.name, peer.PodSelector.MatchLabels[name], rule.Ports[0].Port.String()}] = true
				}
			}
		}
		for _, rule := range policy.Spec.Ingress {
			if !hasPort(w.container(), *rule.Ports[0].Port) {
				t.Errorf("the policy %s lets in at %s", w.name, rule.Ports[0].Port)
			}
			for _, peer := range rule.From {
				if peer.PodSelector != nil && peer.PodSelector.MatchLabels[name] != "" {
					in[way{peer.PodSelector.MatchLabels[name], w.name, rule.Ports[0].Port.String()}] = true
				}
			}
		}
	}
	ways := []way{{"agentd", "toolhost", "grpc"}, {"toolhost", "toolhost", "nodes"}, {"agentd", "agentd", "nodes"}}
	for _, w := range ways {
		if !out[w] || !in[w] {
			t.Errorf("the policies do not permit %v", w)
		}
	}
	if len(out) != len(ways) || len(in) != len(ways) {
		t.Errorf("the policies permit %v and %v", out, in)
	}
}

// The manifests have no content of secrets.
func TestNoSecrets(t *testing.T) {
	text, err := os.ReadFile("kubernetes/kustomization.yaml")
	if err != nil || bytes.Contains(text, []byte("secretGenerator")) {
		t.Errorf("the kustomization makes secrets: %v", err)
	}
}

// compose.yaml is valid, and its containers are as confined, and find the same files, as the pods.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, cli.WithEnv([]string{"POSTGRES_PASSWORD=a", "TOOLHOST_PASSWORD=b", "AGENTD_PASSWORD=c", "ANTHROPIC_API_KEY=d"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pods := build(t, filesys.MakeFsOnDisk(), "kubernetes")
	for _, w := range workloads(t, pods) {
		for _, suffix := range []string{"-0", "-1"} {
			service, ok := project.Services[w.name+suffix]
			if !ok {
				t.Fatalf("there is no %s%s", w.name, suffix)
			}
			checkService(t, &service, &w)
		}
	}
	if len(project.Services) != 5 || project.Services["database"].Networks["default"].Aliases[0] != "postgres" {
		t.Errorf("the services are %v", project.ServiceNames())
	}
}

func checkService(t *testing.T, service *composetypes.ServiceConfig, w *workload) {
	t.Helper()
	c := w.container()
	if !slices.Equal(service.Entrypoint, c.Command) || !slices.Equal(service.Command, c.Args) {
		t.Errorf("%s runs %v %v, and the pod %v %v", service.Name, service.Entrypoint, service.Command, c.Command, c.Args)
	}
	if service.User != "65532:65532" || !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Contains(service.SecurityOpt, "no-new-privileges:true") {
		t.Errorf("%s has more rights than the pod", service.Name)
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(service.Volumes, func(v composetypes.ServiceVolumeConfig) bool {
			return (v.Target == m.MountPath || path.Dir(v.Target) == m.MountPath) && v.ReadOnly == m.ReadOnly
		}) {
			t.Errorf("%s has nothing at %s", service.Name, m.MountPath)
		}
	}
	for _, e := range c.Env {
		if _, ok := service.Environment[e.Name]; !ok && e.Name != "GOMEMLIMIT" {
			t.Errorf("%s has no %s", service.Name, e.Name)
		}
	}
	for _, v := range service.Volumes {
		if strings.HasSuffix(v.Source, ".yaml") {
			if _, err := os.Stat(v.Source); err != nil {
				t.Error(err)
			}
		}
	}
	if w.name == "toolhost" && !slices.Contains(service.Networks["default"].Aliases, service.Hostname+".toolhost-nodes") {
		t.Errorf("others do not find %s", service.Name)
	}
}
