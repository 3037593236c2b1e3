import type { GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/login_service.proto.
 */
export declare const file_toolhost_v1_login_service: GenFile;
/**
 * Login is what the caller may know about its login at an MCP server.
 *
 * @generated from message toolhost.v1.Login
 */
export type Login = Message<"toolhost.v1.Login"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The URL of the server.
     *
     * @generated from field: string url = 2;
     */
    url: string;
    /**
     * How toolhost gets tokens: authorization_code if a person logs in, or client_credentials if the
     * operator has configured a client that needs no person.
     *
     * @generated from field: string grant = 3;
     */
    grant: string;
    /**
     * Whether there is a login.
     *
     * @generated from field: bool logged_in = 4;
     */
    loggedIn: boolean;
    /**
     * The authorization server. Empty if there is no login.
     *
     * @generated from field: string issuer = 5;
     */
    issuer: string;
    /**
     * The scopes that were granted. Empty means that they are not known.
     *
     * @generated from field: repeated string scopes = 6;
     */
    scopes: string[];
    /**
     * The scopes that a call lacked. The next login asks for them.
     *
     * @generated from field: repeated string missing_scopes = 7;
     */
    missingScopes: string[];
    /**
     * When the person logged in. Unset if there is no login.
     *
     * @generated from field: google.protobuf.Timestamp create_time = 8;
     */
    createTime?: Timestamp | undefined;
    /**
     * When the access token expires. Unset means that this is not known.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 9;
     */
    expireTime?: Timestamp | undefined;
    /**
     * Whether toolhost renews the login without the person.
     *
     * @generated from field: bool renews = 10;
     */
    renews: boolean;
    /**
     * Why the login cannot be used, in English. Empty means that it can be used.
     *
     * @generated from field: string problem = 11;
     */
    problem: string;
};
/**
 * Describes the message toolhost.v1.Login.
 * Use `create(LoginSchema)` to create a new message.
 */
export declare const LoginSchema: GenMessage<Login>;
/**
 * ListLoginsRequest selects servers.
 *
 * @generated from message toolhost.v1.ListLoginsRequest
 */
export type ListLoginsRequest = Message<"toolhost.v1.ListLoginsRequest"> & {
    /**
     * Only this plugin. Empty means all.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.ListLoginsRequest.
 * Use `create(ListLoginsRequestSchema)` to create a new message.
 */
export declare const ListLoginsRequestSchema: GenMessage<ListLoginsRequest>;
/**
 * ListLoginsResponse has the logins.
 *
 * @generated from message toolhost.v1.ListLoginsResponse
 */
export type ListLoginsResponse = Message<"toolhost.v1.ListLoginsResponse"> & {
    /**
     * The servers with the caller's login at each.
     *
     * @generated from field: repeated toolhost.v1.Login logins = 1;
     */
    logins: Login[];
};
/**
 * Describes the message toolhost.v1.ListLoginsResponse.
 * Use `create(ListLoginsResponseSchema)` to create a new message.
 */
export declare const ListLoginsResponseSchema: GenMessage<ListLoginsResponse>;
/**
 * BeginLoginRequest begins a login.
 *
 * @generated from message toolhost.v1.BeginLoginRequest
 */
export type BeginLoginRequest = Message<"toolhost.v1.BeginLoginRequest"> & {
    /**
     * The plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Where the browser brings the answer: http://127.0.0.1:PORT/PATH or http://[::1]:PORT/PATH, on the
     * machine of the person. Empty means that the person agrees on another device.
     *
     * @generated from field: string redirect_uri = 2;
     */
    redirectUri: string;
};
/**
 * Describes the message toolhost.v1.BeginLoginRequest.
 * Use `create(BeginLoginRequestSchema)` to create a new message.
 */
export declare const BeginLoginRequestSchema: GenMessage<BeginLoginRequest>;
/**
 * BeginLoginResponse is a login in progress.
 *
 * @generated from message toolhost.v1.BeginLoginResponse
 */
export type BeginLoginResponse = Message<"toolhost.v1.BeginLoginResponse"> & {
    /**
     * The id of the login, for FinishLogin.
     *
     * @generated from field: string login_id = 1;
     */
    loginId: string;
    /**
     * The URL of the server.
     *
     * @generated from field: string url = 2;
     */
    url: string;
    /**
     * The authorization server to which the person is sent. The person should know it.
     *
     * @generated from field: string issuer = 3;
     */
    issuer: string;
    /**
     * What the person is asked to grant. Empty means what the authorization server chooses.
     *
     * @generated from field: repeated string scopes = 4;
     */
    scopes: string[];
    /**
     * Until when the login can be finished.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 5;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The URL for the browser. Empty for a login on another device.
     *
     * @generated from field: string browser_url = 6;
     */
    browserUrl: string;
    /**
     * What the parameter state of the answer has to be. A caller ignores other answers.
     *
     * @generated from field: string state = 7;
     */
    state: string;
    /**
     * What the person enters at verify_url, on another device. Empty for a login with the browser.
     *
     * @generated from field: string user_code = 8;
     */
    userCode: string;
    /**
     * Where the person enters user_code.
     *
     * @generated from field: string verify_url = 9;
     */
    verifyUrl: string;
    /**
     * verify_url with the code in it. May be empty.
     *
     * @generated from field: string verify_url_complete = 10;
     */
    verifyUrlComplete: string;
};
/**
 * Describes the message toolhost.v1.BeginLoginResponse.
 * Use `create(BeginLoginResponseSchema)` to create a new message.
 */
export declare const BeginLoginResponseSchema: GenMessage<BeginLoginResponse>;
/**
 * FinishLoginRequest finishes a login.
 *
 * @generated from message toolhost.v1.FinishLoginRequest
 */
export type FinishLoginRequest = Message<"toolhost.v1.FinishLoginRequest"> & {
    /**
     * The plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The id of the login.
     *
     * @generated from field: string login_id = 2;
     */
    loginId: string;
    /**
     * The parameter code of the answer. Empty for a login on another device.
     *
     * @generated from field: string code = 3;
     */
    code: string;
    /**
     * The parameter state of the answer.
     *
     * @generated from field: string state = 4;
     */
    state: string;
    /**
     * The parameter iss of the answer.
     *
     * @generated from field: string issuer = 5;
     */
    issuer: string;
    /**
     * The parameter error of the answer.
     *
     * @generated from field: string error = 6;
     */
    error: string;
    /**
     * The parameter error_description of the answer.
     *
     * @generated from field: string error_description = 7;
     */
    errorDescription: string;
};
/**
 * Describes the message toolhost.v1.FinishLoginRequest.
 * Use `create(FinishLoginRequestSchema)` to create a new message.
 */
export declare const FinishLoginRequestSchema: GenMessage<FinishLoginRequest>;
/**
 * FinishLoginResponse describes the new login.
 *
 * @generated from message toolhost.v1.FinishLoginResponse
 */
export type FinishLoginResponse = Message<"toolhost.v1.FinishLoginResponse"> & {
    /**
     * The login.
     *
     * @generated from field: toolhost.v1.Login login = 1;
     */
    login?: Login | undefined;
};
/**
 * Describes the message toolhost.v1.FinishLoginResponse.
 * Use `create(FinishLoginResponseSchema)` to create a new message.
 */
export declare const FinishLoginResponseSchema: GenMessage<FinishLoginResponse>;
/**
 * LogoutRequest ends a login.
 *
 * @generated from message toolhost.v1.LogoutRequest
 */
export type LogoutRequest = Message<"toolhost.v1.LogoutRequest"> & {
    /**
     * The plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
};
/**
 * Describes the message toolhost.v1.LogoutRequest.
 * Use `create(LogoutRequestSchema)` to create a new message.
 */
export declare const LogoutRequestSchema: GenMessage<LogoutRequest>;
/**
 * LogoutResponse says what happened.
 *
 * @generated from message toolhost.v1.LogoutResponse
 */
export type LogoutResponse = Message<"toolhost.v1.LogoutResponse"> & {
    /**
     * Whether there was a login.
     *
     * @generated from field: bool was_logged_in = 1;
     */
    wasLoggedIn: boolean;
    /**
     * Why the tokens may still be valid elsewhere, in English. Empty means that they were revoked, or
     * that there were none.
     *
     * @generated from field: string revocation_problem = 2;
     */
    revocationProblem: string;
};
/**
 * Describes the message toolhost.v1.LogoutResponse.
 * Use `create(LogoutResponseSchema)` to create a new message.
 */
export declare const LogoutResponseSchema: GenMessage<LogoutResponse>;
/**
 * LoginService logs the caller in to MCP servers over HTTP that require OAuth 2.1. Every RPC concerns
 * the logins of the caller itself; a delegate cannot log in another principal. The tokens stay in
 * toolhost.
 *
 * Each RPC fails with DENIED for a caller without its right, for an anonymous caller, and for a token
 * that is limited to some tools or roles. It fails with NOT_FOUND if the plugin does not exist or is
 * not an MCP server at a URL.
 * Errors are toolhost.tool.v1.Error as a detail of the gRPC status.
 *
 * @generated from service toolhost.v1.LoginService
 */
export declare const LoginService: GenService<{
    /**
     * ListLogins lists the MCP servers that require a login, and the caller's login at each, ordered by
     * plugin.
     *
     * @generated from rpc toolhost.v1.LoginService.ListLogins
     */
    listLogins: {
        methodKind: "unary";
        input: typeof ListLoginsRequestSchema;
        output: typeof ListLoginsResponseSchema;
    };
    /**
     * BeginLogin begins a login. The caller shows the answer to a person, and passes on what the
     * person's browser brings to the redirect URI with FinishLogin. Errors: INVALID_ARGUMENT if the
     * redirect URI is not a port of loopback; UNAVAILABLE if the metadata of the server cannot be read
     * or is refused; RATE_LIMITED if too many logins are in progress; UNSUPPORTED if the authorization
     * server does not support the kind of login.
     *
     * @generated from rpc toolhost.v1.LoginService.BeginLogin
     */
    beginLogin: {
        methodKind: "unary";
        input: typeof BeginLoginRequestSchema;
        output: typeof BeginLoginResponseSchema;
    };
    /**
     * FinishLogin finishes a login that the caller began. A login on another device blocks until the
     * person has agreed or refused. A login can be finished once. Errors: NOT_FOUND if no such login of
     * the caller is in progress; DENIED if the person or the authorization server refused, or the answer
     * does not belong to the login; UNAVAILABLE if the authorization server cannot be reached.
     *
     * @generated from rpc toolhost.v1.LoginService.FinishLogin
     */
    finishLogin: {
        methodKind: "unary";
        input: typeof FinishLoginRequestSchema;
        output: typeof FinishLoginResponseSchema;
    };
    /**
     * Logout ends the caller's login at a server. Calls with it fail from then on. toolhost also asks the
     * authorization server to revoke the tokens.
     *
     * @generated from rpc toolhost.v1.LoginService.Logout
     */
    logout: {
        methodKind: "unary";
        input: typeof LogoutRequestSchema;
        output: typeof LogoutResponseSchema;
    };
}>;
