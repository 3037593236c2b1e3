// Package configfile holds what toolhost and agentd share about their configuration files: it finds
// a file, checks whether the operator trusts it, reports its errors, and has the commands
// `config check` and `config show`. It does not know the keys of a file. A Program has them.
package configfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// Program describes the configuration file of one program. C is the struct whose fields are the
// keys of the file. All fields without another comment are required. A Program may be used
// concurrently.
type Program[C any] struct {
	Name     string // of the program, such as toolhost
	User     string // the command that uses the file, such as "toolhost serve"
	FileName string // of the file that the program finds without a name, such as toolhost.yaml
	Page     string // the page of the documentation that describes the keys

	// Default returns the configuration without a file.
	Default func() C
	// Load decodes the text of a file. If the text is wrong, the error is of type yamldoc.Errors.
	Load func(path string, text []byte) (C, error)
	// Summary says what a valid file configures, for a person.
	Summary func(c *C) string
	// Complete sets the keys whose defaults depend on the machine and the user.
	Complete func(c *C, getenv func(string) string) error
	// References checks what a valid configuration refers to on this machine, for `config check`. The
	// error says what can never work. Nil checks nothing.
	References func(c *C, getenv func(string) string) (warnings []string, err error)
	// YAML returns the configuration as a file that loads as the same configuration.
	YAML func(c *C) []byte
	// ShowNote is a sentence about what `config show` leaves out. Empty: it leaves nothing out.
	ShowNote string
}

// Read reads the file at path. If path is empty, Read looks for the file in the current folder and
// in the operator's folder of configuration. The zero File means that there is none. Read does not
// check whether the operator trusts the file; see CheckTrust.
func (p *Program[C]) Read(getenv func(string) string, path string) (trust.File, error) {
	if path != "" {
		file, err := trust.Read(path, true)
		if err != nil {
			return file, cli.Usage("%w", err)
		}
		return file, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return trust.File{}, fmt.Errorf("looking for the configuration: %w", err)
	}
	file, err := trust.NewUserStore(getenv).Find(p.FileName, getenv, cwd)
	return file, TrustError(err)
}

// Decode decodes a file, or returns the defaults if there is none. An invalid file is a usage
// error.
func (p *Program[C]) Decode(file trust.File) (C, error) {
	if file.Path == "" {
		return p.Default(), nil
	}
	c, err := p.Load(file.Path, file.Data)
	if found, ok := errors.AsType[yamldoc.Errors](err); ok {
		err = fmt.Errorf("%s has %s:\n%w", file.Path, cli.Count(len(found), "error"), found)
	}
	if err != nil {
		return c, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return c, nil
}

// Use reads and decodes the file for a command that applies it. It refuses a file that the search
// found and that the operator does not trust, before it parses the file: errors of the parser quote
// the file. The caller calls CheckTrust again when it knows which folders plugins may write.
func (p *Program[C]) Use(getenv func(string) string, path string) (C, trust.File, error) {
	file, err := p.Read(getenv, path)
	if err != nil {
		return p.Default(), file, err
	}
	if !file.Named {
		if err := CheckTrust(getenv, file, nil); err != nil {
			return p.Default(), file, err
		}
	}
	c, err := p.Decode(file)
	return c, file, err
}

// Warnings returns what an operator should change in a file that works: deprecated keys, with what
// to write instead, and permissions that let every user of the machine change the file.
func (p *Program[C]) Warnings(file trust.File) []string {
	var warnings []string
	for _, found := range yamldoc.Deprecations[C](file.Path, file.Data) {
		warnings = append(warnings, found.Error())
	}
	if exposed := exposure(file.Path); exposed != "" {
		warnings = append(warnings, exposed)
	}
	return warnings
}

// exposure says that every user of the machine can change a file or replace it. It is empty if they
// cannot, and for a device: a person who names /dev/null wants an empty file, and nobody changes
// what it says. There are machines on which all files are like that, such as those that share a
// folder with Windows, so this refuses nothing.
func exposure(path string) string {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&os.ModeDevice != 0 {
		return ""
	}
	if err == nil && info.Mode().Perm()&0o002 != 0 {
		return fmt.Sprintf("every user of this machine can change %s; run: chmod o-w %[1]s", trust.Quote(path))
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); path != "" && err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Sprintf("every user of this machine can replace %s; run: chmod o-w %s", path, trust.Quote(folder))
	}
	return ""
}

// Warn prints warnings.
func (p *Program[C]) Warn(w io.Writer, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintf(w, "%s: warning: %s\n", p.Name, cli.OneLine(warning))
	}
}

// NoteDistrust prints that the program would refuse the file that a command only reads. err is the
// result of CheckTrust. NoteDistrust returns every other error.
func (p *Program[C]) NoteDistrust(w io.Writer, err error) error {
	if untrusted, ok := errors.AsType[*trust.Untrusted](err); ok {
		fmt.Fprintf(w, "%s: note: `%s` refuses this file: %s\n", p.Name, p.User, cli.OneLine(untrusted.Error()))
		return nil
	}
	return err
}

// CheckTrust refuses a file that a plugin could have written and that the operator has not trusted.
// writable are the folders that plugins may write under this configuration. The trust store records
// the folders of earlier configurations.
func CheckTrust(getenv func(string) string, file trust.File, writable []string) error {
	if file.Path == "" {
		return nil
	}
	file.Writable = writable
	return TrustError(trust.NewUserStore(getenv).Check(file))
}

// CheckArchive refuses an archive that a plugin could have written, unless the operator names its
// digest.
func CheckArchive(getenv func(string) string, archive, digest string) error {
	if digest != "" { // the restore compares it with that of the archive
		return nil
	}
	return TrustError(trust.NewUserStore(getenv).CheckArchive(archive))
}

// TrustError adds the exit code to the error of a file that is not trusted. It returns every other
// error as it is.
func TrustError(err error) error {
	if _, ok := errors.AsType[*trust.Untrusted](err); ok {
		return &cli.ExitError{Code: cli.ExitUntrusted, Err: err}
	}
	return err
}
