import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/workspace/v1/workspace.proto.
 */
export declare const file_toolhost_workspace_v1_workspace: GenFile;
/**
 * Place names a file or folder.
 *
 * @generated from message toolhost.workspace.v1.Place
 */
export type Place = Message<"toolhost.workspace.v1.Place"> & {
    /**
     * The workspace, if the server has several: a name of at most 64 letters, digits, "-" and "_". A
     * plugin leaves it empty, because its socket belongs to one workspace.
     *
     * @generated from field: string workspace = 1;
     */
    workspace: string;
    /**
     * The folders, each relative to the one before, that bound the name: neither ".." nor a link in the
     * name leads out of the last one. At most 256, and 64 KiB in all.
     *
     * @generated from field: repeated string within = 2;
     */
    within: string[];
    /**
     * The name, relative to the last of these folders, or to the workspace. At most 16 KiB.
     *
     * @generated from field: string name = 3;
     */
    name: string;
};
/**
 * Describes the message toolhost.workspace.v1.Place.
 * Use `create(PlaceSchema)` to create a new message.
 */
export declare const PlaceSchema: GenMessage<Place>;
/**
 * DescribeRequest asks about a workspace.
 *
 * @generated from message toolhost.workspace.v1.DescribeRequest
 */
export type DescribeRequest = Message<"toolhost.workspace.v1.DescribeRequest"> & {
    /**
     * The workspace; its name is ".".
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.DescribeRequest.
 * Use `create(DescribeRequestSchema)` to create a new message.
 */
export declare const DescribeRequestSchema: GenMessage<DescribeRequest>;
/**
 * DescribeResponse describes a workspace.
 *
 * @generated from message toolhost.workspace.v1.DescribeResponse
 */
export type DescribeResponse = Message<"toolhost.workspace.v1.DescribeResponse"> & {
    /**
     * The absolute paths of the workspace at the server. A path below one of them is equal to a name. At
     * most 8.
     *
     * @generated from field: repeated string paths = 1;
     */
    paths: string[];
    /**
     * Whether the server runs commands.
     *
     * @generated from field: bool commands = 2;
     */
    commands: boolean;
};
/**
 * Describes the message toolhost.workspace.v1.DescribeResponse.
 * Use `create(DescribeResponseSchema)` to create a new message.
 */
export declare const DescribeResponseSchema: GenMessage<DescribeResponse>;
/**
 * FileInfo describes a file or folder.
 *
 * @generated from message toolhost.workspace.v1.FileInfo
 */
export type FileInfo = Message<"toolhost.workspace.v1.FileInfo"> & {
    /**
     * The last element of the name, without a slash.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * What it is.
     *
     * @generated from field: toolhost.workspace.v1.FileKind kind = 2;
     */
    kind: FileKind;
    /**
     * The permissions, as the nine bits of POSIX.
     *
     * @generated from field: uint32 permissions = 3;
     */
    permissions: number;
    /**
     * The size of a regular file in bytes.
     *
     * @generated from field: uint64 size = 4;
     */
    size: bigint;
    /**
     * The time of the last change of the content, in nanoseconds since 1970 in UTC.
     *
     * @generated from field: int64 modified_unix_nanos = 5;
     */
    modifiedUnixNanos: bigint;
    /**
     * The target of a link. Only an entry of a folder can be a link.
     *
     * @generated from field: string target = 6;
     */
    target: string;
    /**
     * Changes with the content, and has no other meaning. At most 256 bytes. Only an entry of a folder
     * may have none.
     *
     * @generated from field: string version = 7;
     */
    version: string;
};
/**
 * Describes the message toolhost.workspace.v1.FileInfo.
 * Use `create(FileInfoSchema)` to create a new message.
 */
export declare const FileInfoSchema: GenMessage<FileInfo>;
/**
 * StatRequest names a file.
 *
 * @generated from message toolhost.workspace.v1.StatRequest
 */
export type StatRequest = Message<"toolhost.workspace.v1.StatRequest"> & {
    /**
     * The file.
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.StatRequest.
 * Use `create(StatRequestSchema)` to create a new message.
 */
export declare const StatRequestSchema: GenMessage<StatRequest>;
/**
 * StatResponse describes a file.
 *
 * @generated from message toolhost.workspace.v1.StatResponse
 */
export type StatResponse = Message<"toolhost.workspace.v1.StatResponse"> & {
    /**
     * The target of the name.
     *
     * @generated from field: toolhost.workspace.v1.FileInfo info = 1;
     */
    info?: FileInfo | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.StatResponse.
 * Use `create(StatResponseSchema)` to create a new message.
 */
export declare const StatResponseSchema: GenMessage<StatResponse>;
/**
 * ListRequest names a folder.
 *
 * @generated from message toolhost.workspace.v1.ListRequest
 */
export type ListRequest = Message<"toolhost.workspace.v1.ListRequest"> & {
    /**
     * The folder.
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.ListRequest.
 * Use `create(ListRequestSchema)` to create a new message.
 */
export declare const ListRequestSchema: GenMessage<ListRequest>;
/**
 * ListResponse has some entries of a folder.
 *
 * @generated from message toolhost.workspace.v1.ListResponse
 */
export type ListResponse = Message<"toolhost.workspace.v1.ListResponse"> & {
    /**
     * The entries. A link is described itself, and not its target.
     *
     * @generated from field: repeated toolhost.workspace.v1.FileInfo entries = 1;
     */
    entries: FileInfo[];
};
/**
 * Describes the message toolhost.workspace.v1.ListResponse.
 * Use `create(ListResponseSchema)` to create a new message.
 */
export declare const ListResponseSchema: GenMessage<ListResponse>;
/**
 * ReadRequest names a file.
 *
 * @generated from message toolhost.workspace.v1.ReadRequest
 */
export type ReadRequest = Message<"toolhost.workspace.v1.ReadRequest"> & {
    /**
     * The file.
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.ReadRequest.
 * Use `create(ReadRequestSchema)` to create a new message.
 */
export declare const ReadRequestSchema: GenMessage<ReadRequest>;
/**
 * ReadResponse has a part of a file.
 *
 * @generated from message toolhost.workspace.v1.ReadResponse
 */
export type ReadResponse = Message<"toolhost.workspace.v1.ReadResponse"> & {
    /**
     * The description of the open file. Only in the first message.
     *
     * @generated from field: toolhost.workspace.v1.FileInfo info = 1;
     */
    info?: FileInfo | undefined;
    /**
     * The next bytes of the content. An open file keeps its content if its name gets another one.
     *
     * @generated from field: bytes data = 2;
     */
    data: Uint8Array;
};
/**
 * Describes the message toolhost.workspace.v1.ReadResponse.
 * Use `create(ReadResponseSchema)` to create a new message.
 */
export declare const ReadResponseSchema: GenMessage<ReadResponse>;
/**
 * WriteRequest has a part of a write.
 *
 * @generated from message toolhost.workspace.v1.WriteRequest
 */
export type WriteRequest = Message<"toolhost.workspace.v1.WriteRequest"> & {
    /**
     * The file. Only in the first message.
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
    /**
     * The version that the file must have. Empty means any version, or no file. Only in the first
     * message.
     *
     * @generated from field: string if_version = 2;
     */
    ifVersion: string;
    /**
     * The size of the whole content in bytes, at most 64 MiB. The server refuses a write whose data have
     * another size. Only in the first message.
     *
     * @generated from field: uint64 size = 3;
     */
    size: bigint;
    /**
     * The next bytes of the content.
     *
     * @generated from field: bytes data = 4;
     */
    data: Uint8Array;
};
/**
 * Describes the message toolhost.workspace.v1.WriteRequest.
 * Use `create(WriteRequestSchema)` to create a new message.
 */
export declare const WriteRequestSchema: GenMessage<WriteRequest>;
/**
 * WriteResponse describes the effect of a write.
 *
 * @generated from message toolhost.workspace.v1.WriteResponse
 */
export type WriteResponse = Message<"toolhost.workspace.v1.WriteResponse"> & {
    /**
     * The file before. Absent if there was none.
     *
     * @generated from field: toolhost.workspace.v1.FileInfo before = 1;
     */
    before?: FileInfo | undefined;
    /**
     * The file now.
     *
     * @generated from field: toolhost.workspace.v1.FileInfo after = 2;
     */
    after?: FileInfo | undefined;
};
/**
 * Describes the message toolhost.workspace.v1.WriteResponse.
 * Use `create(WriteResponseSchema)` to create a new message.
 */
export declare const WriteResponseSchema: GenMessage<WriteResponse>;
/**
 * ExecuteRequest has one step of a command.
 *
 * @generated from message toolhost.workspace.v1.ExecuteRequest
 */
export type ExecuteRequest = Message<"toolhost.workspace.v1.ExecuteRequest"> & {
    /**
     * The step.
     *
     * @generated from oneof toolhost.workspace.v1.ExecuteRequest.step
     */
    step: {
        /**
         * The command. Only in the first message.
         *
         * @generated from field: toolhost.workspace.v1.Command command = 1;
         */
        value: Command;
        case: "command";
    } | {
        /**
         * The next bytes of the standard input, in all at most 64 MiB.
         *
         * @generated from field: bytes input = 2;
         */
        value: Uint8Array;
        case: "input";
    } | {
        /**
         * Starts the command: its standard input is complete.
         *
         * @generated from field: toolhost.workspace.v1.StartCommand start = 3;
         */
        value: StartCommand;
        case: "start";
    } | {
        /**
         * Ends the command: SIGTERM first, and SIGKILL soon after.
         *
         * @generated from field: toolhost.workspace.v1.EndCommand end = 4;
         */
        value: EndCommand;
        case: "end";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.workspace.v1.ExecuteRequest.
 * Use `create(ExecuteRequestSchema)` to create a new message.
 */
export declare const ExecuteRequestSchema: GenMessage<ExecuteRequest>;
/**
 * Command describes a command.
 *
 * @generated from message toolhost.workspace.v1.Command
 */
export type Command = Message<"toolhost.workspace.v1.Command"> & {
    /**
     * The folder in which the command starts.
     *
     * @generated from field: toolhost.workspace.v1.Place place = 1;
     */
    place?: Place | undefined;
    /**
     * The program and its arguments. The server looks a program without a slash up in its PATH.
     *
     * @generated from field: repeated string argv = 2;
     */
    argv: string[];
    /**
     * Variables in addition to those of the server, which they replace.
     *
     * @generated from field: map<string, string> environment = 3;
     */
    environment: {
        [key: string]: string;
    };
};
/**
 * Describes the message toolhost.workspace.v1.Command.
 * Use `create(CommandSchema)` to create a new message.
 */
export declare const CommandSchema: GenMessage<Command>;
/**
 * StartCommand starts a command.
 *
 * @generated from message toolhost.workspace.v1.StartCommand
 */
export type StartCommand = Message<"toolhost.workspace.v1.StartCommand"> & {};
/**
 * Describes the message toolhost.workspace.v1.StartCommand.
 * Use `create(StartCommandSchema)` to create a new message.
 */
export declare const StartCommandSchema: GenMessage<StartCommand>;
/**
 * EndCommand ends a command.
 *
 * @generated from message toolhost.workspace.v1.EndCommand
 */
export type EndCommand = Message<"toolhost.workspace.v1.EndCommand"> & {};
/**
 * Describes the message toolhost.workspace.v1.EndCommand.
 * Use `create(EndCommandSchema)` to create a new message.
 */
export declare const EndCommandSchema: GenMessage<EndCommand>;
/**
 * ExecuteResponse has one step of a command.
 *
 * @generated from message toolhost.workspace.v1.ExecuteResponse
 */
export type ExecuteResponse = Message<"toolhost.workspace.v1.ExecuteResponse"> & {
    /**
     * The step.
     *
     * @generated from oneof toolhost.workspace.v1.ExecuteResponse.step
     */
    step: {
        /**
         * The next bytes of the standard output.
         *
         * @generated from field: bytes stdout = 1;
         */
        value: Uint8Array;
        case: "stdout";
    } | {
        /**
         * The next bytes of the standard error.
         *
         * @generated from field: bytes stderr = 2;
         */
        value: Uint8Array;
        case: "stderr";
    } | {
        /**
         * The end of the command. Only in the last message.
         *
         * @generated from field: toolhost.workspace.v1.CommandExit exit = 3;
         */
        value: CommandExit;
        case: "exit";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.workspace.v1.ExecuteResponse.
 * Use `create(ExecuteResponseSchema)` to create a new message.
 */
export declare const ExecuteResponseSchema: GenMessage<ExecuteResponse>;
/**
 * CommandExit says how a command ended.
 *
 * @generated from message toolhost.workspace.v1.CommandExit
 */
export type CommandExit = Message<"toolhost.workspace.v1.CommandExit"> & {
    /**
     * The exit code, from 0 to 255. 0 if a signal ended the command.
     *
     * @generated from field: uint32 code = 1;
     */
    code: number;
    /**
     * The number of the signal that ended the command. 0 means none.
     *
     * @generated from field: uint32 signal = 2;
     */
    signal: number;
    /**
     * Whether the client, the end of the stream, or a signal to its supervisor ended the command.
     *
     * @generated from field: bool ended = 3;
     */
    ended: boolean;
    /**
     * The number of processes that the command left behind and that the server ended.
     *
     * @generated from field: uint32 left = 4;
     */
    left: number;
    /**
     * Why the rest is not known, in a sentence. The command may have had any effect. Empty means that the
     * rest is known.
     *
     * @generated from field: string unknown = 5;
     */
    unknown: string;
};
/**
 * Describes the message toolhost.workspace.v1.CommandExit.
 * Use `create(CommandExitSchema)` to create a new message.
 */
export declare const CommandExitSchema: GenMessage<CommandExit>;
/**
 * NameError says why an RPC was refused. Nothing was changed, and no command ran.
 *
 * @generated from message toolhost.workspace.v1.NameError
 */
export type NameError = Message<"toolhost.workspace.v1.NameError"> & {
    /**
     * The kind of error.
     *
     * @generated from field: toolhost.workspace.v1.NameError.Reason reason = 1;
     */
    reason: NameError_Reason;
    /**
     * What is wrong and what to do, for the model or person that chose the name. It names no path outside
     * of the workspace. At most 4 KiB.
     *
     * @generated from field: string message = 2;
     */
    message: string;
};
/**
 * Describes the message toolhost.workspace.v1.NameError.
 * Use `create(NameErrorSchema)` to create a new message.
 */
export declare const NameErrorSchema: GenMessage<NameError>;
/**
 * Reason is a kind of error.
 *
 * @generated from enum toolhost.workspace.v1.NameError.Reason
 */
export declare enum NameError_Reason {
    /**
     * Another error.
     *
     * @generated from enum value: REASON_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * There is no such file.
     *
     * @generated from enum value: REASON_NOT_FOUND = 1;
     */
    NOT_FOUND = 1,
    /**
     * The user of the server, or the client, has no permission.
     *
     * @generated from enum value: REASON_PERMISSION = 2;
     */
    PERMISSION = 2,
    /**
     * The name, or another argument, is invalid.
     *
     * @generated from enum value: REASON_INVALID = 3;
     */
    INVALID = 3,
    /**
     * The name leads out of the workspace.
     *
     * @generated from enum value: REASON_OUTSIDE = 4;
     */
    OUTSIDE = 4,
    /**
     * A file is required, and this is a folder.
     *
     * @generated from enum value: REASON_FOLDER = 5;
     */
    FOLDER = 5,
    /**
     * A folder is required, and this is none.
     *
     * @generated from enum value: REASON_NOT_FOLDER = 6;
     */
    NOT_FOLDER = 6,
    /**
     * This is neither a regular file nor a folder.
     *
     * @generated from enum value: REASON_IRREGULAR = 7;
     */
    IRREGULAR = 7,
    /**
     * The content is too large.
     *
     * @generated from enum value: REASON_TOO_LARGE = 8;
     */
    TOO_LARGE = 8,
    /**
     * The file does not have the required version.
     *
     * @generated from enum value: REASON_CHANGED = 9;
     */
    CHANGED = 9,
    /**
     * The workspace has only files.
     *
     * @generated from enum value: REASON_NO_COMMANDS = 10;
     */
    NO_COMMANDS = 10,
    /**
     * The server does not have the program.
     *
     * @generated from enum value: REASON_NO_PROGRAM = 11;
     */
    NO_PROGRAM = 11,
    /**
     * The server has no room for the request now.
     *
     * @generated from enum value: REASON_UNAVAILABLE = 12;
     */
    UNAVAILABLE = 12
}
/**
 * Describes the enum toolhost.workspace.v1.NameError.Reason.
 */
export declare const NameError_ReasonSchema: GenEnum<NameError_Reason>;
/**
 * FileKind is what a file is.
 *
 * @generated from enum toolhost.workspace.v1.FileKind
 */
export declare enum FileKind {
    /**
     * Not set.
     *
     * @generated from enum value: FILE_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * A regular file.
     *
     * @generated from enum value: FILE_KIND_REGULAR = 1;
     */
    REGULAR = 1,
    /**
     * A folder.
     *
     * @generated from enum value: FILE_KIND_FOLDER = 2;
     */
    FOLDER = 2,
    /**
     * A symbolic link.
     *
     * @generated from enum value: FILE_KIND_LINK = 3;
     */
    LINK = 3,
    /**
     * A named pipe.
     *
     * @generated from enum value: FILE_KIND_FIFO = 4;
     */
    FIFO = 4,
    /**
     * A socket.
     *
     * @generated from enum value: FILE_KIND_SOCKET = 5;
     */
    SOCKET = 5,
    /**
     * A device.
     *
     * @generated from enum value: FILE_KIND_DEVICE = 6;
     */
    DEVICE = 6
}
/**
 * Describes the enum toolhost.workspace.v1.FileKind.
 */
export declare const FileKindSchema: GenEnum<FileKind>;
/**
 * WorkspaceService serves workspaces: folders with files, in which commands may run. No name, link or
 * replacement of a file by a link leads out of a workspace.
 *
 * @generated from service toolhost.workspace.v1.WorkspaceService
 */
export declare const WorkspaceService: GenService<{
    /**
     * Describe returns what the workspace is and can do.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.Describe
     */
    describe: {
        methodKind: "unary";
        input: typeof DescribeRequestSchema;
        output: typeof DescribeResponseSchema;
    };
    /**
     * Stat describes the target of a name. It follows links.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.Stat
     */
    stat: {
        methodKind: "unary";
        input: typeof StatRequestSchema;
        output: typeof StatResponseSchema;
    };
    /**
     * List returns the entries of a folder, in no order and without "." and "..", in messages of many.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.List
     */
    list: {
        methodKind: "server_streaming";
        input: typeof ListRequestSchema;
        output: typeof ListResponseSchema;
    };
    /**
     * Read returns the content of a regular file. The first message describes the file.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.Read
     */
    read: {
        methodKind: "server_streaming";
        input: typeof ReadRequestSchema;
        output: typeof ReadResponseSchema;
    };
    /**
     * Write replaces the content of a file in one step, or creates the file and the folders of its name.
     * The server writes nothing before the client has closed the stream regularly.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.Write
     */
    write: {
        methodKind: "client_streaming";
        input: typeof WriteRequestSchema;
        output: typeof WriteResponseSchema;
    };
    /**
     * Execute runs a command. The first request describes the command. Requests with its standard input
     * follow, and one that starts it. The last response says how the command ended, when no process of
     * the command is left. If the stream breaks, the server ends the command.
     *
     * @generated from rpc toolhost.workspace.v1.WorkspaceService.Execute
     */
    execute: {
        methodKind: "bidi_streaming";
        input: typeof ExecuteRequestSchema;
        output: typeof ExecuteResponseSchema;
    };
}>;
