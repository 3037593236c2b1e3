package fault

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// serve returns after the shutdown.
func (f *flags) serve() error {
	h := &handler{stdout: os.Stdout, stderr: os.Stderr} // go-plugin replaces them
	config := &goplugin.ServeConfig{
		HandshakeConfig:  pluginwire.Handshake(),
		VersionedPlugins: pluginwire.PluginPlugins(h, pluginwire.ServerConfig{}),
		Logger:           hclog.NewNullLogger(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			opts = append(pluginwire.ServerOptions(), opts...)
			return grpc.NewServer(append(opts, grpc.UnaryInterceptor(f.answerHealth))...)
		},
	}
	if err := f.secure(config); err != nil {
		return err
	}
	if f.dribble || f.certificate != "" {
		field, err := certificateField(f.certificate)
		if err != nil {
			return err
		}
		if err := rewriteHandshake(func(line string) string { return line + field }); err != nil {
			return err
		}
	}
	goplugin.Serve(config)
	if f.ignoreShutdown {
		sleep()
	}
	return nil
}

// secure makes the plugin serve TLS, with the certificate in its handshake or without an
// announcement.
func (f *flags) secure(config *goplugin.ServeConfig) error {
	if f.tls == "" {
		return nil
	}
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	if f.tls == "announced" { // as an inherited variable would do
		return os.Setenv("PLUGIN_CLIENT_CERT", string(certificate.pem))
	}
	config.TLSProvider = func() (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{certificate.pair}, MinVersion: tls.VersionTLS12}, nil
	}
	return nil
}

// answerHealth keeps the plugin from becoming ready.
func (f *flags) answerHealth(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if _, ok := req.(*grpc_health_v1.HealthCheckRequest); ok {
		switch f.health {
		case "silent":
			<-ctx.Done()
			return nil, ctx.Err()
		case "bad":
			return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
		}
	}
	return handle(ctx, req)
}

// rewriteHandshake prints go-plugin's handshake line after change has changed it, one byte at a
// time.
func rewriteHandshake(change func(line string) string) error {
	out := os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	os.Stdout = write
	go func() { // for as long as the process lives
		from := bufio.NewReader(read)
		line, err := from.ReadString('\n')
		if err != nil {
			return
		}
		for _, b := range []byte(change(strings.TrimSuffix(line, "\n")) + "\n") {
			if _, err := out.Write([]byte{b}); err != nil {
				return
			}
		}
		_, _ = io.Copy(out, from)
	}()
	return nil
}
