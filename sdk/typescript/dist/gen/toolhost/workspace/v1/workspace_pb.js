// The contract between the shipped tools and a workspace that is not a folder of their machine.
//
// A plugin calls it at a unix socket of its toolhost. toolhost calls it at the server that the operator
// configured, with the operator's credentials. A message has at most 4 MiB, and a field with bytes at
// most 256 KiB.
//
// A failed RPC has a status with a NameError as its detail if it concerns a name that a model or person
// chose, and nothing was changed. UNAVAILABLE without a detail says that the connection broke.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
/**
 * Describes the file toolhost/workspace/v1/workspace.proto.
 */
export const file_toolhost_workspace_v1_workspace = /*@__PURE__*/ fileDesc("CiV0b29saG9zdC93b3Jrc3BhY2UvdjEvd29ya3NwYWNlLnByb3RvEhV0b29saG9zdC53b3Jrc3BhY2UudjEiOAoFUGxhY2USEQoJd29ya3NwYWNlGAEgASgJEg4KBndpdGhpbhgCIAMoCRIMCgRuYW1lGAMgASgJIj4KD0Rlc2NyaWJlUmVxdWVzdBIrCgVwbGFjZRgBIAEoCzIcLnRvb2xob3N0LndvcmtzcGFjZS52MS5QbGFjZSIzChBEZXNjcmliZVJlc3BvbnNlEg0KBXBhdGhzGAEgAygJEhAKCGNvbW1hbmRzGAIgASgIIqgBCghGaWxlSW5mbxIMCgRuYW1lGAEgASgJEi0KBGtpbmQYAiABKA4yHy50b29saG9zdC53b3Jrc3BhY2UudjEuRmlsZUtpbmQSEwoLcGVybWlzc2lvbnMYAyABKA0SDAoEc2l6ZRgEIAEoBBIbChNtb2RpZmllZF91bml4X25hbm9zGAUgASgDEg4KBnRhcmdldBgGIAEoCRIPCgd2ZXJzaW9uGAcgASgJIjoKC1N0YXRSZXF1ZXN0EisKBXBsYWNlGAEgASgLMhwudG9vbGhvc3Qud29ya3NwYWNlLnYxLlBsYWNlIj0KDFN0YXRSZXNwb25zZRItCgRpbmZvGAEgASgLMh8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkZpbGVJbmZvIjoKC0xpc3RSZXF1ZXN0EisKBXBsYWNlGAEgASgLMhwudG9vbGhvc3Qud29ya3NwYWNlLnYxLlBsYWNlIkAKDExpc3RSZXNwb25zZRIwCgdlbnRyaWVzGAEgAygLMh8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkZpbGVJbmZvIjoKC1JlYWRSZXF1ZXN0EisKBXBsYWNlGAEgASgLMhwudG9vbGhvc3Qud29ya3NwYWNlLnYxLlBsYWNlIksKDFJlYWRSZXNwb25zZRItCgRpbmZvGAEgASgLMh8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkZpbGVJbmZvEgwKBGRhdGEYAiABKAwiawoMV3JpdGVSZXF1ZXN0EisKBXBsYWNlGAEgASgLMhwudG9vbGhvc3Qud29ya3NwYWNlLnYxLlBsYWNlEhIKCmlmX3ZlcnNpb24YAiABKAkSDAoEc2l6ZRgDIAEoBBIMCgRkYXRhGAQgASgMInAKDVdyaXRlUmVzcG9uc2USLwoGYmVmb3JlGAEgASgLMh8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkZpbGVJbmZvEi4KBWFmdGVyGAIgASgLMh8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkZpbGVJbmZvIsQBCg5FeGVjdXRlUmVxdWVzdBIxCgdjb21tYW5kGAEgASgLMh4udG9vbGhvc3Qud29ya3NwYWNlLnYxLkNvbW1hbmRIABIPCgVpbnB1dBgCIAEoDEgAEjQKBXN0YXJ0GAMgASgLMiMudG9vbGhvc3Qud29ya3NwYWNlLnYxLlN0YXJ0Q29tbWFuZEgAEjAKA2VuZBgEIAEoCzIhLnRvb2xob3N0LndvcmtzcGFjZS52MS5FbmRDb21tYW5kSABCBgoEc3RlcCK+AQoHQ29tbWFuZBIrCgVwbGFjZRgBIAEoCzIcLnRvb2xob3N0LndvcmtzcGFjZS52MS5QbGFjZRIMCgRhcmd2GAIgAygJEkQKC2Vudmlyb25tZW50GAMgAygLMi8udG9vbGhvc3Qud29ya3NwYWNlLnYxLkNvbW1hbmQuRW52aXJvbm1lbnRFbnRyeRoyChBFbnZpcm9ubWVudEVudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCToCOAEiDgoMU3RhcnRDb21tYW5kIgwKCkVuZENvbW1hbmQicQoPRXhlY3V0ZVJlc3BvbnNlEhAKBnN0ZG91dBgBIAEoDEgAEhAKBnN0ZGVychgCIAEoDEgAEjIKBGV4aXQYAyABKAsyIi50b29saG9zdC53b3Jrc3BhY2UudjEuQ29tbWFuZEV4aXRIAEIGCgRzdGVwIlkKC0NvbW1hbmRFeGl0EgwKBGNvZGUYASABKA0SDgoGc2lnbmFsGAIgASgNEg0KBWVuZGVkGAMgASgIEgwKBGxlZnQYBCABKA0SDwoHdW5rbm93bhgFIAEoCSL+AgoJTmFtZUVycm9yEjcKBnJlYXNvbhgBIAEoDjInLnRvb2xob3N0LndvcmtzcGFjZS52MS5OYW1lRXJyb3IuUmVhc29uEg8KB21lc3NhZ2UYAiABKAkipgIKBlJlYXNvbhIWChJSRUFTT05fVU5TUEVDSUZJRUQQABIUChBSRUFTT05fTk9UX0ZPVU5EEAESFQoRUkVBU09OX1BFUk1JU1NJT04QAhISCg5SRUFTT05fSU5WQUxJRBADEhIKDlJFQVNPTl9PVVRTSURFEAQSEQoNUkVBU09OX0ZPTERFUhAFEhUKEVJFQVNPTl9OT1RfRk9MREVSEAYSFAoQUkVBU09OX0lSUkVHVUxBUhAHEhQKEFJFQVNPTl9UT09fTEFSR0UQCBISCg5SRUFTT05fQ0hBTkdFRBAJEhYKElJFQVNPTl9OT19DT01NQU5EUxAKEhUKEVJFQVNPTl9OT19QUk9HUkFNEAsSFgoSUkVBU09OX1VOQVZBSUxBQkxFEAwqpgEKCEZpbGVLaW5kEhkKFUZJTEVfS0lORF9VTlNQRUNJRklFRBAAEhUKEUZJTEVfS0lORF9SRUdVTEFSEAESFAoQRklMRV9LSU5EX0ZPTERFUhACEhIKDkZJTEVfS0lORF9MSU5LEAMSEgoORklMRV9LSU5EX0ZJRk8QBBIUChBGSUxFX0tJTkRfU09DS0VUEAUSFAoQRklMRV9LSU5EX0RFVklDRRAGMpoEChBXb3Jrc3BhY2VTZXJ2aWNlElsKCERlc2NyaWJlEiYudG9vbGhvc3Qud29ya3NwYWNlLnYxLkRlc2NyaWJlUmVxdWVzdBonLnRvb2xob3N0LndvcmtzcGFjZS52MS5EZXNjcmliZVJlc3BvbnNlEk8KBFN0YXQSIi50b29saG9zdC53b3Jrc3BhY2UudjEuU3RhdFJlcXVlc3QaIy50b29saG9zdC53b3Jrc3BhY2UudjEuU3RhdFJlc3BvbnNlElEKBExpc3QSIi50b29saG9zdC53b3Jrc3BhY2UudjEuTGlzdFJlcXVlc3QaIy50b29saG9zdC53b3Jrc3BhY2UudjEuTGlzdFJlc3BvbnNlMAESUQoEUmVhZBIiLnRvb2xob3N0LndvcmtzcGFjZS52MS5SZWFkUmVxdWVzdBojLnRvb2xob3N0LndvcmtzcGFjZS52MS5SZWFkUmVzcG9uc2UwARJUCgVXcml0ZRIjLnRvb2xob3N0LndvcmtzcGFjZS52MS5Xcml0ZVJlcXVlc3QaJC50b29saG9zdC53b3Jrc3BhY2UudjEuV3JpdGVSZXNwb25zZSgBElwKB0V4ZWN1dGUSJS50b29saG9zdC53b3Jrc3BhY2UudjEuRXhlY3V0ZVJlcXVlc3QaJi50b29saG9zdC53b3Jrc3BhY2UudjEuRXhlY3V0ZVJlc3BvbnNlKAEwAUJHWkVnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby90b29saG9zdC93b3Jrc3BhY2UvdjE7d29ya3NwYWNldjFiBnByb3RvMw");
/**
 * Describes the message toolhost.workspace.v1.Place.
 * Use `create(PlaceSchema)` to create a new message.
 */
export const PlaceSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 0);
/**
 * Describes the message toolhost.workspace.v1.DescribeRequest.
 * Use `create(DescribeRequestSchema)` to create a new message.
 */
export const DescribeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 1);
/**
 * Describes the message toolhost.workspace.v1.DescribeResponse.
 * Use `create(DescribeResponseSchema)` to create a new message.
 */
export const DescribeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 2);
/**
 * Describes the message toolhost.workspace.v1.FileInfo.
 * Use `create(FileInfoSchema)` to create a new message.
 */
export const FileInfoSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 3);
/**
 * Describes the message toolhost.workspace.v1.StatRequest.
 * Use `create(StatRequestSchema)` to create a new message.
 */
export const StatRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 4);
/**
 * Describes the message toolhost.workspace.v1.StatResponse.
 * Use `create(StatResponseSchema)` to create a new message.
 */
export const StatResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 5);
/**
 * Describes the message toolhost.workspace.v1.ListRequest.
 * Use `create(ListRequestSchema)` to create a new message.
 */
export const ListRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 6);
/**
 * Describes the message toolhost.workspace.v1.ListResponse.
 * Use `create(ListResponseSchema)` to create a new message.
 */
export const ListResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 7);
/**
 * Describes the message toolhost.workspace.v1.ReadRequest.
 * Use `create(ReadRequestSchema)` to create a new message.
 */
export const ReadRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 8);
/**
 * Describes the message toolhost.workspace.v1.ReadResponse.
 * Use `create(ReadResponseSchema)` to create a new message.
 */
export const ReadResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 9);
/**
 * Describes the message toolhost.workspace.v1.WriteRequest.
 * Use `create(WriteRequestSchema)` to create a new message.
 */
export const WriteRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 10);
/**
 * Describes the message toolhost.workspace.v1.WriteResponse.
 * Use `create(WriteResponseSchema)` to create a new message.
 */
export const WriteResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 11);
/**
 * Describes the message toolhost.workspace.v1.ExecuteRequest.
 * Use `create(ExecuteRequestSchema)` to create a new message.
 */
export const ExecuteRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 12);
/**
 * Describes the message toolhost.workspace.v1.Command.
 * Use `create(CommandSchema)` to create a new message.
 */
export const CommandSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 13);
/**
 * Describes the message toolhost.workspace.v1.StartCommand.
 * Use `create(StartCommandSchema)` to create a new message.
 */
export const StartCommandSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 14);
/**
 * Describes the message toolhost.workspace.v1.EndCommand.
 * Use `create(EndCommandSchema)` to create a new message.
 */
export const EndCommandSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 15);
/**
 * Describes the message toolhost.workspace.v1.ExecuteResponse.
 * Use `create(ExecuteResponseSchema)` to create a new message.
 */
export const ExecuteResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 16);
/**
 * Describes the message toolhost.workspace.v1.CommandExit.
 * Use `create(CommandExitSchema)` to create a new message.
 */
export const CommandExitSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 17);
/**
 * Describes the message toolhost.workspace.v1.NameError.
 * Use `create(NameErrorSchema)` to create a new message.
 */
export const NameErrorSchema = /*@__PURE__*/ messageDesc(file_toolhost_workspace_v1_workspace, 18);
/**
 * Reason is a kind of error.
 *
 * @generated from enum toolhost.workspace.v1.NameError.Reason
 */
export var NameError_Reason;
(function (NameError_Reason) {
    /**
     * Another error.
     *
     * @generated from enum value: REASON_UNSPECIFIED = 0;
     */
    NameError_Reason[NameError_Reason["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * There is no such file.
     *
     * @generated from enum value: REASON_NOT_FOUND = 1;
     */
    NameError_Reason[NameError_Reason["NOT_FOUND"] = 1] = "NOT_FOUND";
    /**
     * The user of the server, or the client, has no permission.
     *
     * @generated from enum value: REASON_PERMISSION = 2;
     */
    NameError_Reason[NameError_Reason["PERMISSION"] = 2] = "PERMISSION";
    /**
     * The name, or another argument, is invalid.
     *
     * @generated from enum value: REASON_INVALID = 3;
     */
    NameError_Reason[NameError_Reason["INVALID"] = 3] = "INVALID";
    /**
     * The name leads out of the workspace.
     *
     * @generated from enum value: REASON_OUTSIDE = 4;
     */
    NameError_Reason[NameError_Reason["OUTSIDE"] = 4] = "OUTSIDE";
    /**
     * A file is required, and this is a folder.
     *
     * @generated from enum value: REASON_FOLDER = 5;
     */
    NameError_Reason[NameError_Reason["FOLDER"] = 5] = "FOLDER";
    /**
     * A folder is required, and this is none.
     *
     * @generated from enum value: REASON_NOT_FOLDER = 6;
     */
    NameError_Reason[NameError_Reason["NOT_FOLDER"] = 6] = "NOT_FOLDER";
    /**
     * This is neither a regular file nor a folder.
     *
     * @generated from enum value: REASON_IRREGULAR = 7;
     */
    NameError_Reason[NameError_Reason["IRREGULAR"] = 7] = "IRREGULAR";
    /**
     * The content is too large.
     *
     * @generated from enum value: REASON_TOO_LARGE = 8;
     */
    NameError_Reason[NameError_Reason["TOO_LARGE"] = 8] = "TOO_LARGE";
    /**
     * The file does not have the required version.
     *
     * @generated from enum value: REASON_CHANGED = 9;
     */
    NameError_Reason[NameError_Reason["CHANGED"] = 9] = "CHANGED";
    /**
     * The workspace has only files.
     *
     * @generated from enum value: REASON_NO_COMMANDS = 10;
     */
    NameError_Reason[NameError_Reason["NO_COMMANDS"] = 10] = "NO_COMMANDS";
    /**
     * The server does not have the program.
     *
     * @generated from enum value: REASON_NO_PROGRAM = 11;
     */
    NameError_Reason[NameError_Reason["NO_PROGRAM"] = 11] = "NO_PROGRAM";
    /**
     * The server has no room for the request now.
     *
     * @generated from enum value: REASON_UNAVAILABLE = 12;
     */
    NameError_Reason[NameError_Reason["UNAVAILABLE"] = 12] = "UNAVAILABLE";
})(NameError_Reason || (NameError_Reason = {}));
/**
 * Describes the enum toolhost.workspace.v1.NameError.Reason.
 */
export const NameError_ReasonSchema = /*@__PURE__*/ enumDesc(file_toolhost_workspace_v1_workspace, 18, 0);
/**
 * FileKind is what a file is.
 *
 * @generated from enum toolhost.workspace.v1.FileKind
 */
export var FileKind;
(function (FileKind) {
    /**
     * Not set.
     *
     * @generated from enum value: FILE_KIND_UNSPECIFIED = 0;
     */
    FileKind[FileKind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * A regular file.
     *
     * @generated from enum value: FILE_KIND_REGULAR = 1;
     */
    FileKind[FileKind["REGULAR"] = 1] = "REGULAR";
    /**
     * A folder.
     *
     * @generated from enum value: FILE_KIND_FOLDER = 2;
     */
    FileKind[FileKind["FOLDER"] = 2] = "FOLDER";
    /**
     * A symbolic link.
     *
     * @generated from enum value: FILE_KIND_LINK = 3;
     */
    FileKind[FileKind["LINK"] = 3] = "LINK";
    /**
     * A named pipe.
     *
     * @generated from enum value: FILE_KIND_FIFO = 4;
     */
    FileKind[FileKind["FIFO"] = 4] = "FIFO";
    /**
     * A socket.
     *
     * @generated from enum value: FILE_KIND_SOCKET = 5;
     */
    FileKind[FileKind["SOCKET"] = 5] = "SOCKET";
    /**
     * A device.
     *
     * @generated from enum value: FILE_KIND_DEVICE = 6;
     */
    FileKind[FileKind["DEVICE"] = 6] = "DEVICE";
})(FileKind || (FileKind = {}));
/**
 * Describes the enum toolhost.workspace.v1.FileKind.
 */
export const FileKindSchema = /*@__PURE__*/ enumDesc(file_toolhost_workspace_v1_workspace, 0);
/**
 * WorkspaceService serves workspaces: folders with files, in which commands may run. No name, link or
 * replacement of a file by a link leads out of a workspace.
 *
 * @generated from service toolhost.workspace.v1.WorkspaceService
 */
export const WorkspaceService = /*@__PURE__*/ serviceDesc(file_toolhost_workspace_v1_workspace, 0);
