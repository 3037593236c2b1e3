package callstore_test

func children() map[string]func(args []string) error { return nil }
