package commands

import (
	"net/url"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/secrets"
)

// modelKeys are the variables of the environment in which providers expect their keys.
var modelKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"}

// learnSecrets makes the redactor know the secrets that the configuration and the environment
// contain: the keys of all models, also of those that no run uses yet, and the passwords in the
// addresses of models. The values of headers for telemetry follow when the exporters open. A server
// may quote a key in an error, and agentd logs such errors.
func (s *setup) learnSecrets() {
	if s.redactor == nil {
		s.redactor = &secrets.Redactor{}
	}
	variables := slices.Clone(modelKeys)
	addresses := []string{s.baseURL, s.process.Getenv("ANTHROPIC_BASE_URL"), s.process.Getenv("OPENAI_BASE_URL"), s.process.Getenv("GOOGLE_GEMINI_BASE_URL")}
	for _, m := range s.config.Models {
		variables, addresses = append(variables, m.APIKeyEnv), append(addresses, m.BaseURL)
	}
	for _, variable := range variables {
		if value := strings.TrimSpace(s.process.Getenv(variable)); variable != "" && value != "" {
			s.redactor.Learn(variable, value)
		}
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil {
			if password, ok := u.User.Password(); ok {
				s.redactor.Learn("password of "+u.Hostname(), password)
			}
		}
	}
}
