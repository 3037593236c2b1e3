package ledger

import "github.com/toolhost/toolhost/tool"

// KeyOf returns the key in the form of the ledger.
func KeyOf(k tool.CallKey) Key {
	return Key{Principal: k.Principal, Session: k.Session, ID: k.ID}
}

// CheckKey refuses a key that no call could have.
func CheckKey(key tool.CallKey) error {
	if err := tool.CheckID(key.ID); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the call id cannot be one: %w", err)
	}
	if key.Session == "" {
		return nil
	}
	if err := tool.CheckID(key.Session); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the session cannot be one: %w", err)
	}
	return nil
}

// CheckSession refuses a session name that no call could have.
func CheckSession(session string) error {
	if session == "" {
		return nil
	}
	if err := tool.CheckID(session); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the session cannot be used: %w", err)
	}
	return nil
}
