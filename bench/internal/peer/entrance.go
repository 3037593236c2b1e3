package peer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/toolhost/toolhost/client"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
)

// Entrance is one way to reach a toolhost and to authenticate. Its Toolhost has its own
// connections.
type Entrance struct {
	Title string // for people
	*Toolhost
}

// entrances are the settings of a toolhost with all listeners and credentials. The verbs are the
// two ports, the folder of the certificates, the issuer and the number of the present user.
const entrances = `
listeners:
  - {address: "127.0.0.1:%[1]d", admits: caller}
  - {address: "127.0.0.1:%[2]d", tls: {certificate: %[3]s/server.pem, key: %[3]s/server.key, client_ca: %[3]s/ca.pem, client_certificate: optional}}
auth:
  issuers:
    - {issuer: %[4]q, audience: [toolhost], ca: %[3]s/issuer.pem}
  bindings:
    - {role: admin, principals: ["uid:%[5]d"], tenants: [all]}
    - {role: caller, members_of: [default]}
`

// Entrances starts a toolhost and returns the ways to call it. The first one is the unix socket,
// where toolhost knows the caller by its user.
func (f *Field) Entrances(ctx context.Context) ([]Entrance, error) {
	folder, err := f.Folder("certificates")
	if err != nil {
		return nil, err
	}
	ca, err := newAuthority(folder)
	if err != nil {
		return nil, err
	}
	jwts, err := startIssuer(folder)
	if err != nil {
		return nil, err
	}
	f.owns(jwts.Close)
	if err := errors.Join(ca.server(), ca.client("client", &url.URL{Scheme: "spiffe", Host: "bench", Path: "/caller"})); err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	plain, secure := ports[0], ports[1]
	state := filepath.Join(folder, "state")
	token, err := exec.CommandContext(ctx, f.program("toolhost"), "token", "create", "bench", "--state", state).Output()
	if err != nil {
		return nil, fmt.Errorf("making a token: %w", err)
	}
	host, err := f.Toolhost(ctx, House{State: state, Settings: fmt.Sprintf(entrances, plain, secure, folder, jwts.server.URL, os.Getuid())})
	if err != nil {
		return nil, err
	}
	ours, theirs, jwt := client.TLS{CA: ca.path("ca.pem")}, strings.TrimSpace(string(token)), jwts.sign()
	mutual := ours
	mutual.Certificate, mutual.Key = ca.path("client.pem"), ca.path("client.key")
	loopback, tcp := fmt.Sprintf("127.0.0.1:%d", plain), fmt.Sprintf("127.0.0.1:%d", secure)
	for _, address := range []string{loopback, tcp} { // toolhost may listen there later than at the socket
		if err := await(ctx, "tcp", address, nil); err != nil {
			return nil, err
		}
	}
	all := []Entrance{{Title: "unix socket, user", Toolhost: host}}
	for _, way := range []struct {
		title, address string
		tls            *client.TLS
		token          string
	}{
		{"unix socket, token", host.addr, nil, theirs},
		{"unix socket, JWT", host.addr, nil, jwt},
		{"loopback without TLS", loopback, nil, ""},
		{"TLS, token", tcp, &ours, theirs},
		{"TLS, JWT", tcp, &ours, jwt},
		{"TLS, client certificate", tcp, &mutual, ""},
	} {
		t, err := f.through(host, way.address, way.tls, way.token)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.title, err)
		}
		all = append(all, Entrance{way.title, t})
	}
	return all, nil
}

// through returns the toolhost with other connections.
func (f *Field) through(host *Toolhost, address string, with *client.TLS, token string) (*Toolhost, error) {
	options := []client.DialOption{client.IgnoreEnvironment(), client.AllowPlainToken()}
	dial := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if with != nil {
		options = append(options, client.WithTLS(*with))
		config, err := config(*with)
		if err != nil {
			return nil, err
		}
		dial[0] = grpc.WithTransportCredentials(credentials.NewTLS(config))
	}
	if token != "" {
		options = append(options, client.WithToken(token))
		dial = append(dial, grpc.WithPerRPCCredentials(bearer(token)))
	}
	c, err := client.Dial(address, options...)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(address, dial...)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	f.owns(conn.Close, c.Close)
	t := *host
	t.client, t.stub = c, toolhostv1.NewToolServiceClient(conn)
	return &t, nil
}

// config returns the same settings of TLS for generated code.
func config(with client.TLS) (*tls.Config, error) {
	pem, err := os.ReadFile(with.CA)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	c.RootCAs.AppendCertsFromPEM(pem)
	if with.Certificate == "" {
		return c, nil
	}
	own, err := tls.LoadX509KeyPair(with.Certificate, with.Key)
	c.Certificates = []tls.Certificate{own}
	return c, err
}

// bearer sends a token with each RPC.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

// freePorts returns TCP ports of loopback that no program uses at the moment.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
