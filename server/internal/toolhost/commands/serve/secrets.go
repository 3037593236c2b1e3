package serve

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// openSecrets returns the store of the secrets that the configuration names. Its redactor also
// redacts the values that earlier stores with the redactor have read.
func openSecrets(named map[string]config.Secret, getenv func(string) string, redactor *secrets.Redactor) *secrets.Store {
	cfg := secrets.Config{Getenv: getenv, Redactor: redactor}
	for name, s := range named {
		cfg.Sources = append(cfg.Sources, secrets.Source{
			Name: name, Plugins: s.Plugins, Tenants: secretPlaces(s.Places()), Principals: secretPlaces(s.Principals),
		})
	}
	return secrets.New(cfg)
}

func secretPlaces(named map[string]config.SecretPlace) map[string]secrets.Place {
	places := make(map[string]secrets.Place, len(named))
	for key, p := range named {
		places[key] = secrets.Place(p)
	}
	return places
}

// warnOfSecrets reads the secrets for the first time, so that toolhost redacts them from then on,
// and logs errors.
func warnOfSecrets(store *secrets.Store, logger *slog.Logger) {
	for _, warning := range store.Inspect() {
		logger.Warn(warning)
	}
}
