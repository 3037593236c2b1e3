package agentserver

import (
	"context"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/tool"
)

// Configuration is the configuration file of agentd. The methods must be safe for concurrent use.
type Configuration interface {
	// Reload applies the changes of the file and returns them; nil: there are none.
	Reload(ctx context.Context) *tool.ConfigurationChange
	// Diff returns what Reload would change.
	Diff(ctx context.Context) *tool.ConfigurationChange
}

func (s *service) Reload(ctx context.Context, _ *agentdv1.ReloadRequest) (*agentdv1.ReloadResponse, error) {
	if err := s.configured(); err != nil {
		return nil, err
	}
	return &agentdv1.ReloadResponse{Configuration: fromChange(s.configuration.Reload(ctx))}, nil
}

func (s *service) DiffConfiguration(ctx context.Context, _ *agentdv1.DiffConfigurationRequest) (*agentdv1.DiffConfigurationResponse, error) {
	if err := s.configured(); err != nil {
		return nil, err
	}
	return &agentdv1.DiffConfigurationResponse{Configuration: fromChange(s.configuration.Diff(ctx))}, nil
}

// configured returns an error if agentd has no configuration file that it can read again.
func (s *service) configured() error {
	if s.configuration == nil {
		return tool.Errorf(tool.KindUnavailable, "this agentd has no configuration file that it can read again")
	}
	return nil
}

func fromChange(c *tool.ConfigurationChange) *agentdv1.ConfigurationChange {
	if c == nil {
		return nil
	}
	change := &agentdv1.ConfigurationChange{File: c.File, Problem: c.Problem}
	for _, s := range c.Changes {
		change.Changes = append(change.Changes, &agentdv1.SettingChange{Key: s.Key, Old: s.Old, New: s.New, Restart: s.Restart})
	}
	return change
}
