from toolhost._proto.toolhost.tool.v1 import principal_pb2 as _principal_pb2
from toolhost._proto.toolhost.tool.v1 import result_pb2 as _result_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PromptRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROMPT_ROLE_UNSPECIFIED: _ClassVar[PromptRole]
    PROMPT_ROLE_USER: _ClassVar[PromptRole]
    PROMPT_ROLE_ASSISTANT: _ClassVar[PromptRole]
PROMPT_ROLE_UNSPECIFIED: PromptRole
PROMPT_ROLE_USER: PromptRole
PROMPT_ROLE_ASSISTANT: PromptRole

class Resource(_message.Message):
    __slots__ = ("plugin", "uri", "name", "title", "description", "media_type", "size")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    uri: str
    name: str
    title: str
    description: str
    media_type: str
    size: int
    def __init__(self, plugin: _Optional[str] = ..., uri: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class ResourceTemplate(_message.Message):
    __slots__ = ("plugin", "uri_template", "name", "title", "description", "media_type")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    URI_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    uri_template: str
    name: str
    title: str
    description: str
    media_type: str
    def __init__(self, plugin: _Optional[str] = ..., uri_template: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class UnlistedPlugin(_message.Message):
    __slots__ = ("plugin", "reason")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    reason: str
    def __init__(self, plugin: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ListResourcesRequest(_message.Message):
    __slots__ = ("plugin", "session", "page_size", "page_token", "on_behalf_of")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    session: str
    page_size: int
    page_token: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., session: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ListResourcesResponse(_message.Message):
    __slots__ = ("resources", "next_page_token", "unlisted")
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNLISTED_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    next_page_token: str
    unlisted: _containers.RepeatedCompositeFieldContainer[UnlistedPlugin]
    def __init__(self, resources: _Optional[_Iterable[_Union[Resource, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., unlisted: _Optional[_Iterable[_Union[UnlistedPlugin, _Mapping[str, object]]]] = ...) -> None: ...

class ListResourceTemplatesRequest(_message.Message):
    __slots__ = ("plugin", "session", "page_size", "page_token", "on_behalf_of")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    session: str
    page_size: int
    page_token: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., session: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ListResourceTemplatesResponse(_message.Message):
    __slots__ = ("resource_templates", "next_page_token", "unlisted")
    RESOURCE_TEMPLATES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNLISTED_FIELD_NUMBER: _ClassVar[int]
    resource_templates: _containers.RepeatedCompositeFieldContainer[ResourceTemplate]
    next_page_token: str
    unlisted: _containers.RepeatedCompositeFieldContainer[UnlistedPlugin]
    def __init__(self, resource_templates: _Optional[_Iterable[_Union[ResourceTemplate, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., unlisted: _Optional[_Iterable[_Union[UnlistedPlugin, _Mapping[str, object]]]] = ...) -> None: ...

class ReadResourceRequest(_message.Message):
    __slots__ = ("plugin", "uri", "session", "max_shown_bytes", "on_behalf_of")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    MAX_SHOWN_BYTES_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    uri: str
    session: str
    max_shown_bytes: int
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., uri: _Optional[str] = ..., session: _Optional[str] = ..., max_shown_bytes: _Optional[int] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ResourceContent(_message.Message):
    __slots__ = ("uri", "media_type", "content")
    URI_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    uri: str
    media_type: str
    content: _result_pb2.Content
    def __init__(self, uri: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[_Union[_result_pb2.Content, _Mapping[str, object]]] = ...) -> None: ...

class ReadResourceResponse(_message.Message):
    __slots__ = ("plugin", "contents")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    contents: _containers.RepeatedCompositeFieldContainer[ResourceContent]
    def __init__(self, plugin: _Optional[str] = ..., contents: _Optional[_Iterable[_Union[ResourceContent, _Mapping[str, object]]]] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ("plugin", "name", "title", "description", "arguments")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    name: str
    title: str
    description: str
    arguments: _containers.RepeatedCompositeFieldContainer[PromptArgument]
    def __init__(self, plugin: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., arguments: _Optional[_Iterable[_Union[PromptArgument, _Mapping[str, object]]]] = ...) -> None: ...

class PromptArgument(_message.Message):
    __slots__ = ("name", "title", "description", "required")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    description: str
    required: bool
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., required: bool = ...) -> None: ...

class ListPromptsRequest(_message.Message):
    __slots__ = ("plugin", "session", "page_size", "page_token", "on_behalf_of")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    session: str
    page_size: int
    page_token: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., session: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ListPromptsResponse(_message.Message):
    __slots__ = ("prompts", "next_page_token", "unlisted")
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    UNLISTED_FIELD_NUMBER: _ClassVar[int]
    prompts: _containers.RepeatedCompositeFieldContainer[Prompt]
    next_page_token: str
    unlisted: _containers.RepeatedCompositeFieldContainer[UnlistedPlugin]
    def __init__(self, prompts: _Optional[_Iterable[_Union[Prompt, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., unlisted: _Optional[_Iterable[_Union[UnlistedPlugin, _Mapping[str, object]]]] = ...) -> None: ...

class GetPromptRequest(_message.Message):
    __slots__ = ("plugin", "name", "arguments", "session", "on_behalf_of")
    class ArgumentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    name: str
    arguments: _containers.ScalarMap[str, str]
    session: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Mapping[str, str]] = ..., session: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class PromptMessage(_message.Message):
    __slots__ = ("role", "content", "resource")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    role: PromptRole
    content: _result_pb2.Content
    resource: ResourceContent
    def __init__(self, role: _Optional[_Union[PromptRole, str]] = ..., content: _Optional[_Union[_result_pb2.Content, _Mapping[str, object]]] = ..., resource: _Optional[_Union[ResourceContent, _Mapping[str, object]]] = ...) -> None: ...

class GetPromptResponse(_message.Message):
    __slots__ = ("plugin", "description", "messages")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    description: str
    messages: _containers.RepeatedCompositeFieldContainer[PromptMessage]
    def __init__(self, plugin: _Optional[str] = ..., description: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[PromptMessage, _Mapping[str, object]]]] = ...) -> None: ...

class CompleteArgumentRequest(_message.Message):
    __slots__ = ("plugin", "prompt", "uri_template", "argument", "value", "arguments", "session", "on_behalf_of")
    class ArgumentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    URI_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    prompt: str
    uri_template: str
    argument: str
    value: str
    arguments: _containers.ScalarMap[str, str]
    session: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., prompt: _Optional[str] = ..., uri_template: _Optional[str] = ..., argument: _Optional[str] = ..., value: _Optional[str] = ..., arguments: _Optional[_Mapping[str, str]] = ..., session: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class CompleteArgumentResponse(_message.Message):
    __slots__ = ("values", "total", "more")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    total: int
    more: bool
    def __init__(self, values: _Optional[_Iterable[str]] = ..., total: _Optional[int] = ..., more: bool = ...) -> None: ...

class WatchResourcesRequest(_message.Message):
    __slots__ = ("plugin", "resources", "session", "on_behalf_of")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    resources: _containers.RepeatedCompositeFieldContainer[ResourceName]
    session: str
    on_behalf_of: _principal_pb2.Principal
    def __init__(self, plugin: _Optional[str] = ..., resources: _Optional[_Iterable[_Union[ResourceName, _Mapping[str, object]]]] = ..., session: _Optional[str] = ..., on_behalf_of: _Optional[_Union[_principal_pb2.Principal, _Mapping[str, object]]] = ...) -> None: ...

class ResourceName(_message.Message):
    __slots__ = ("plugin", "uri")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    uri: str
    def __init__(self, plugin: _Optional[str] = ..., uri: _Optional[str] = ...) -> None: ...

class WatchResourcesResponse(_message.Message):
    __slots__ = ("plugin", "resources_changed", "prompts_changed", "uri")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_CHANGED_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    resources_changed: bool
    prompts_changed: bool
    uri: str
    def __init__(self, plugin: _Optional[str] = ..., resources_changed: bool = ..., prompts_changed: bool = ..., uri: _Optional[str] = ...) -> None: ...
