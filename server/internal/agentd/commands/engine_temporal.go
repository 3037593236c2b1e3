//go:build !demo

package commands

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"time"

	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// openTemporal returns the engine of the configuration, which connects later. The caller must call
// close after the engine has driven.
func (s *setup) openTemporal(report func(error), log *slog.Logger) (e *temporalEngine, err error) {
	t := &s.config.Temporal
	config := temporal.Config{Address: t.Address, Namespace: t.Namespace, TaskQueue: t.TaskQueue, Check: 30 * time.Second, Report: report, Log: log}
	if t.Secure() {
		if config.TLS, err = clientTLS(t.TLS); err != nil {
			return nil, cli.Usage("temporal.tls: %w", err)
		}
	}
	e = &temporalEngine{}
	if t.APIKey.Given() {
		value, err := s.secret("temporal.api_key", t.APIKey)
		if err != nil {
			return nil, err
		}
		source := credential.Static(value)
		if t.APIKey.File != "" {
			source = &learned{credential.File(t.APIKey.File), s.redactor}
		}
		e.keys = credential.NewCache(source)
		config.APIKey = func(ctx context.Context) (string, error) {
			token, err := e.keys.Get(ctx)
			return token.Value, err
		}
	}
	if e.Engine, err = temporal.New(config); err != nil {
		e.closeKeys()
		return nil, fmt.Errorf("making a client of Temporal: %w", err)
	}
	return e, nil
}

// learned is a source of keys that keeps them out of the log.
type learned struct {
	credential.Source
	redactor *secrets.Redactor
}

// Fetch implements credential.Source.
func (l *learned) Fetch(ctx context.Context) (credential.Token, error) {
	token, err := l.Source.Fetch(ctx)
	if err == nil {
		l.redactor.Learn("temporal.api_key", token.Value)
	}
	return token, err
}

// temporalEngine is the engine with the API key that it presents.
type temporalEngine struct {
	*temporal.Engine
	keys *credential.Cache // nil: there is no key
}

var _ agent.Engine = (*temporalEngine)(nil)

func (e *temporalEngine) close() {
	e.Close()
	e.closeKeys()
}

func (e *temporalEngine) closeKeys() {
	if e.keys != nil {
		e.keys.Close()
	}
}

func (e *temporalEngine) rebuild(ctx context.Context, runs iter.Seq2[string, error]) (told, others int, err error) {
	return e.Rebuild(ctx, runs)
}

// clientTLS reads the files of TLS. It reads those of agentd's certificate again for each
// connection, so that they can be replaced.
func clientTLS(t agentconfig.TemporalTLS) (*tls.Config, error) {
	config := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		if config.RootCAs = x509.NewCertPool(); !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate in PEM", t.CA)
		}
	}
	if t.Certificate == "" {
		return config, nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		return &pair, err
	}
	_, err := config.GetClientCertificate(nil)
	return config, err
}
