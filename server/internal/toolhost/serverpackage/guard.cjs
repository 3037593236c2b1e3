// Loaded by node before npm. npm starts a program only for a package that is no archive of its
// registry: git for a repository, and itself to prepare one.
const children = require('node:child_process')

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  children[name] = (file) => {
    require('node:fs').writeSync(2, `toolhost: the installation may not run ${file}\n`)
    throw Object.assign(new Error(`toolhost: the installation may not run ${file}`), { code: 'EACCES' })
  }
}
require('node:module').syncBuiltinESMExports()
