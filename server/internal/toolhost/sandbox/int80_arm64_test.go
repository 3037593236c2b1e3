package sandbox_test

const auditArchIsAMD64 = false

func int80() []byte { return nil }
