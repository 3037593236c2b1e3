package agentd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/toolhost/toolhost/internal/agent/agentconfig"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

// trustStore returns the trust records of the user, which agentd shares with toolhost.
func trustStore(getenv func(string) string) *trust.Store { return trust.NewStore(trust.Dir(getenv)) }

// distrust adds the exit code to the error of a file that is not trusted.
func distrust(err error) error {
	if _, ok := errors.AsType[*trust.Untrusted](err); ok {
		return &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
	}
	return err
}

// configFile reads the file that the arguments name, or the file that it finds on the search path.
// The zero File means that there is none. configFile does not check whether the file is trusted;
// see trustConfig.
func configFile(getenv func(string) string, args []string) (trust.File, error) {
	if len(args) > 0 {
		if args[0] == "" {
			return trust.File{}, cli.Usage("the name of the configuration file is empty")
		}
		file, err := trust.Read(args[0], true)
		if err != nil {
			return file, cli.Usage("%w", err)
		}
		return file, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return trust.File{}, fmt.Errorf("looking for the configuration: %w", err)
	}
	file, err := trustStore(getenv).Find(trust.AgentdFile, getenv, cwd)
	return file, distrust(err)
}

// trustConfig refuses a file that a plugin could have written and that the operator has not
// trusted. The file decides where agentd sends the keys of models (base_url and api_key_env).
// writable are the folders that plugins may write under this configuration. The trust store records
// the folders of earlier configurations.
func trustConfig(getenv func(string) string, file trust.File, writable []string) error {
	if file.Path == "" {
		return nil
	}
	file.Writable = writable
	return distrust(trustStore(getenv).Check(file))
}

// noteDistrust prints that `agentd run` would refuse the file that the command shows.
func noteDistrust(w io.Writer, err error) error {
	if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
		fmt.Fprintf(w, "%s: note: `agentd run` refuses this file: %s\n", program, cli.OneLine(untrusted.Error()))
		return nil
	}
	return err
}

// loadConfig decodes a file, or returns the defaults if there is none. An invalid file is a usage
// error.
func loadConfig(file trust.File) (agentconfig.Config, error) {
	if file.Path == "" {
		return agentconfig.Default(), nil
	}
	c, err := agentconfig.LoadText(file.Path, file.Data)
	if found, ok := errors.AsType[yamldoc.Errors](err); ok {
		err = fmt.Errorf("%s cannot be used:\n%w", file.Path, found)
	}
	if err != nil {
		return c, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return c, nil
}
