// Package fleet tests several agentds and toolhosts together while they, their plugins and their
// database fail: three agentds with one journal and three toolhosts with one ledger, all real
// processes with mutual TLS on addresses of loopback, a real PostgreSQL, and a bank that pays as
// often as it is asked.
//
// The package owns the faults, the persons who decide, and what must hold in the end: each run ends
// as it would without a fault, or a person was asked what became of a call that no tool can check;
// nothing is paid twice; what was said to be paid is paid; nothing is left over. Each fault alone
// has its tests in server/internal/e2e and server/internal/e2e/database.
//
// Its tests have the build tag more, and run on Linux.
package fleet
