package serverpackage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/serverpackage"
)

func TestRecognize(t *testing.T) {
	for line, want := range map[string]*serverpackage.Request{
		"npx -y @scope/server@1.2.3 /data -x":         {Registry: "npm", Spec: "@scope/server@1.2.3", Args: []string{"/data", "-x"}},
		"npx server":                                  {Registry: "npm", Spec: "server"},
		"/usr/bin/npx --yes --package server run a":   {Registry: "npm", Spec: "server", Program: "run", Args: []string{"a"}},
		"npx -p=server@^1.2 run":                      {Registry: "npm", Spec: "server@^1.2", Program: "run"},
		"cmd /c npx -y server":                        {Registry: "npm", Spec: "server"},
		"npm exec -y -- server --flag":                {Registry: "npm", Spec: "server", Args: []string{"--flag"}},
		"pnpm dlx server":                             {Registry: "npm", Spec: "server"},
		"uvx mcp-server-time --local-timezone UTC":    {Registry: "PyPI", Spec: "mcp-server-time", Args: []string{"--local-timezone", "UTC"}},
		"uvx mcp-server-time@2026.1":                  {Registry: "PyPI", Spec: "mcp-server-time==2026.1"},
		"uvx mcp-server-time@latest":                  {Registry: "PyPI", Spec: "mcp-server-time"},
		"uvx --from server[all]>=1,<2 run":            {Registry: "PyPI", Spec: "server[all]>=1,<2", Program: "run"},
		"uvx --with mcp<2 --with=x server":            {Registry: "PyPI", Spec: "server", With: []string{"mcp<2", "x"}},
		"uv tool run server":                          {Registry: "PyPI", Spec: "server"},
		"pipx run --spec server==1 run":               {Registry: "PyPI", Spec: "server==1", Program: "run"},
		"node server.js":                              nil,
		"/opt/server --stdio":                         nil,
		"python3 -m mcp_server_time --local-timezone": nil,
	} {
		got, err := serverpackage.Recognize(strings.Fields(line))
		if got != nil && len(got.Args) == 0 {
			got.Args = nil
		}
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %s", line, err, cmp.Diff(want, got))
		}
	}
	link := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink("/bin/sh", link); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"docker run -i image":              "outside of toolhost's sandbox",
		"sh -c x":                          "a text that toolhost cannot check",
		"/bin/bash -lc x":                  "a text that toolhost cannot check",
		"rbash -c x":                       "a text that toolhost cannot check",
		"BASH.EXE -c x":                    "a text that toolhost cannot check",
		"ksh93 -c x":                       "a text that toolhost cannot check",
		"zsh-5.9 -c x":                     "a text that toolhost cannot check",
		"fish -c x":                        "a text that toolhost cannot check",
		link + " -c x":                     "a text that toolhost cannot check",
		"env bash -c x":                    "starts another program",
		"/usr/bin/env -S bash -c x":        "starts another program",
		"env A=b npx server":               "starts another program",
		"nice -n 5 bash -c x":              "starts another program",
		"timeout 9 sh -c x":                "starts another program",
		"busybox sh -c x":                  "starts another program",
		"sudo server":                      "starts another program",
		"/lib64/ld-linux-x86-64.so.2 sh":   "starts another program",
		"cmd /c":                           "a text that toolhost cannot check",
		"uv --directory /x run server":     "a project of a folder",
		"npm run start":                    "a project of a folder",
		"npx":                              "names no package",
		"npx -c x":                         "does not know the flag -c",
		"npx -p":                           "-p has no value",
		"npx -y ./server":                  "is no package of npm",
		"npx -y /srv/server":               "is no package of npm",
		"npx -y github:owner/server":       "is no package of npm",
		"npx -y owner/server":              "is no package of npm",
		"npx -y https://example.com/s.tgz": "is no package of npm",
		"npx -y server@file:../x":          "is no package of npm",
		"npx -y --package --registry=http://a/ run": "is no package of npm",
		"uvx --from git+https://example.com/s run":  "is no package of PyPI",
		"uvx --index-url http://a/ server":          "does not know the flag --index-url",
		"uvx --with ../other server":                "is no package of PyPI",
		"npx --with other server":                   "does not know the flag --with",
		"uvx ./server":                              "is no package of PyPI",
		"uvx server@https://example.com/s.whl":      "is no package of PyPI",
	} {
		if got, err := serverpackage.Recognize(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", line, got, err, want)
		}
	}
}
