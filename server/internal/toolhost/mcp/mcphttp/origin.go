package mcphttp

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// metadataPath is the path of the protected-resource metadata of RFC 9728, before the path of the
// resource.
const metadataPath = "/.well-known/oauth-protected-resource"

// guarded refuses requests that a web page makes a browser send.
//
// A page can name the server by a name of its own that resolves to this machine, which the header
// Host shows, and it can send requests to the server's own name, which the header Origin shows.
// With TLS, the first does not work, because the certificate does not have the name of the page. So
// a front without Config.Hosts checks Host on plain ports only.
func (f *Front) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.knowsHost(r) {
			http.Error(w, "this server does not have the name in the header Host; the operator lists its names under mcp.hosts", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !f.knowsOrigin(r, origin) {
				http.Error(w, "pages of this origin may not use the server; the operator lists them under mcp.origins", http.StatusForbidden)
				return
			}
			allow(w.Header(), origin)
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// allow lets a browser give the answer to the page, and lets the page send MCP's headers.
func allow(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	h.Set("Access-Control-Max-Age", "600")
}

// knowsHost reports whether the header Host has a name of this server.
func (f *Front) knowsHost(r *http.Request) bool {
	name := hostOf(r.Host)
	switch {
	case len(f.config.Hosts) > 0:
		return slices.ContainsFunc(f.config.Hosts, func(known string) bool { return strings.EqualFold(known, name) })
	case isUnix(r):
		return true // no browser connects to a unix socket
	case r.TLS != nil:
		return true
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// knowsOrigin reports whether pages of an origin may use the server.
func (f *Front) knowsOrigin(r *http.Request, origin string) bool {
	if slices.Contains(f.config.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Scheme == schemeOf(r) && strings.EqualFold(u.Host, r.Host)
}

// hostOf returns the name in a header Host without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isUnix(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.Network() == "unix"
}

func schemeOf(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// baseOf returns the URL of the server as the client of a request writes it. guarded has checked
// Host.
func baseOf(r *http.Request) string { return schemeOf(r) + "://" + r.Host }

// describe answers with the protected-resource metadata, which says where clients get tokens.
func (f *Front) describe(w http.ResponseWriter, r *http.Request) {
	metadata := struct {
		Resource             string   `json:"resource"`
		ResourceName         string   `json:"resource_name"`
		AuthorizationServers []string `json:"authorization_servers,omitempty"`
		BearerMethods        []string `json:"bearer_methods_supported"`
	}{baseOf(r) + Path, "toolhost", f.config.Issuers, []string{"header"}}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(metadata) // a client that left needs no answer
}
