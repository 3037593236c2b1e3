// Package fault is a plugin that misbehaves on request, for tests and chaos runs: before its
// handshake as its flags say, later as the arguments of a call say. Without flags it is a
// well-behaved plugin with one tool, "fault".
//
// A test can let its own binary play the plugin by calling Main, or build the executable below in
// folder faultplugin. The package is a fixture: nothing that ships imports it.
//
// What can go wrong, how the plugin is told to do it, and which tests show what comes of it. The
// tests are those of package process, or of e2e where a whole toolhost is needed; each checks that
// nothing is left. A test there holds this table to its word.
//
//	it dies before its handshake          | -exit -panic -when=start      | TestDeathDuringTheLaunch TestLaunchTellsHowAProgramEnded
//	it dies in the middle of it           | -exit -panic -when=half       | TestDeathDuringTheLaunch
//	it dies right after it                | -exit -panic -when=line       | TestDeathDuringTheLaunch
//	it dies when toolhost connects        | -exit -panic -when=connected  | TestDeathDuringTheLaunch
//	it dies before or after a call        | -exit -panic -when=signal     | TestDeathBesideCalls
//	it dies during a call                 | exit crash                    | TestDeathDuringACall
//	a signal ends it during a call        | kill                          | TestExitBySignalIsKnownAfterACrashedCall TestPluginInANamespaceIsLikeAnyOther
//	it dies when it is to shut down       | -exit -panic -when=end        | TestDeathAtTheEnd
//	the stacks of its panic are large     | crash -trace                  | TestLargeCrashKeepsWhyAndTheLastLines
//	it stops itself before its handshake  | -stop                         | TestLaunchTimesOut TestLaunchIsAborted
//	it stops itself during a call         | stop                          | TestStopOfAStoppedPlugin TestAlive
//	it says nothing                       | -hang                         | TestLaunchTimesOut TestLaunchIsAborted
//	it listens and does not answer        | -listen                       | TestLaunchTimesOut TestLaunchIsAborted
//	it is never ready, or says that it is not | -health=silent -health=bad | TestLaunchTimesOut TestPluginThatSaysItIsNotReady
//	a call hangs                          | hang ignore                   | TestCallThatDoesNotEnd
//	it cuts its connection                | disconnect                    | TestLostConnectionEndsTheProcess
//	it ignores Shutdown and SIGTERM       | -ignore-shutdown -ignore-term | TestStop TestStopInANamespace TestStopIsHurriedByItsContext
//	a grandchild holds the pipes, in its group or its session | spawn     | TestGrandchildrenDieWithThePlugin
//	a grandchild hides                    | -spawn=bare spawn             | TestHiddenGrandchildHoldsNothingUp TestHiddenGrandchildDiesWithItsNamespace TestHiddenGrandchildDiesWithItsControlGroup
//	another process listens in its place  | -impostor                     | TestPeerMustBeThePlugin TestImpostorInANamespaceIsRefused
//	noise on stdout before the handshake  | -first=hello -stdout          | TestLaunchRefusesWhatIsNoPlugin
//	a line of 1 MiB without end before it | -unfinished                   | TestLaunchRefusesWhatIsNoPlugin TestLaunchTimesOut
//	a line that is not finished before it | -ask -unfinished              | TestLaunchQuotesAnUnfinishedLine
//	noise on stdout after it              | print                         | TestOutputArrivesByEveryWay
//	a line of 1 MiB without end after it  | long_line                     | TestLongLineOnStdoutIsCut
//	garbage on stderr                     | -stderr print                 | TestStderrIsOnlyEverText
//	a flood on stderr                     | -flood flood                  | TestFloodOfStderrIsBounded TestSlowLoggerDelaysNoProcess
//	the handshake comes byte by byte      | -dribble                      | TestHandshakeThatComesByteByByte
//	wrong versions, network or socket     | -first=2|1| -first=1|77| -first=1|1|tcp -first=1|1|unix|/tmp | TestLaunchRefusesWhatIsNoPlugin
//	a certificate that is bad, padded or unsolicited | -certificate=bad -certificate=padded -certificate=unsolicited | TestLaunchRefusesWhatIsNoPlugin
//	it serves TLS                         | -tls=announced -tls=silent    | TestLaunchRefusesWhatIsNoPlugin TestPluginThatServesTLSInSilence
//	it looks for toolhost's secrets       | environ files                 | TestPluginInheritsNothing
//	a result of 100 MiB                   | large                         | TestLargeResult TestLargeResultBeyondTheLimit TestReaderLeavesALargeResult TestHundredMiBResult
//	a stream of single bytes              | drip                          | TestSlowStreamIsCancelledInTheMiddle
//	memory that grows                     | eat                           | TestMemoryEaterIsKilledAndReported
//	a fork bomb                           | fork                          | TestForkBombStaysAtItsLimit
//	too many open files                   | open                          | TestOpenFilesFailInThePluginAlone
//	descriptors leak from call to call    | leak                          | TestDescriptorLeakIsThePluginsProblem
//	a file that grows                     | write                         | TestLargeFileIsThePluginsProblem
//	an endless computation                | burn                          | TestBurnerIsThrottled
//	its executable is replaced under a call | wait                        | TestExecutableReplacedUnderACall
//	nothing                               | echo                          | TestLaunchCallStop
package fault
