// The layout of what a program is compiled with: a change of it is another SC_ABI.

#include "sharedcore.h"

_Static_assert(sizeof(sc_error) == 792, "sc_error");
_Static_assert(sizeof(sc_entry) == 72, "sc_entry");
_Static_assert(sizeof(sc_change) == 152, "sc_change");
_Static_assert(sizeof(sc_event) == 40, "sc_event");
_Static_assert(sizeof(sc_guard) == 32, "sc_guard");
_Static_assert(sizeof(sc_operation) == 56, "sc_operation");
_Static_assert(sizeof(sc_notification) == 32, "sc_notification");
_Static_assert(sizeof(sc_field) == 16, "sc_field");
_Static_assert(sizeof(sc_process) == 24, "sc_process");
_Static_assert(sizeof(sc_call_info) == 88, "sc_call_info");
_Static_assert(sizeof(sc_call_list) == 16, "sc_call_list");
_Static_assert(sizeof(sc_participant_event) == 112, "sc_participant_event");

// A structure that begins with its size may get more members at its end.
_Static_assert(offsetof(sc_options, read_only) == 80, "sc_options");
_Static_assert(offsetof(sc_participant_options, insists) == 84, "sc_participant_options");
_Static_assert(offsetof(sc_message, field_count) == 112, "sc_message");
_Static_assert(offsetof(sc_baton, from) == 64, "sc_baton");
_Static_assert(offsetof(sc_listed_message, state) == 32, "sc_listed_message");
_Static_assert(offsetof(sc_inbox_page, next) == 24, "sc_inbox_page");
_Static_assert(offsetof(sc_session_info, since) == 56, "sc_session_info");
_Static_assert(offsetof(sc_owner, state) == 72, "sc_owner");
_Static_assert(offsetof(sc_asked, insists) == 60, "sc_asked");
_Static_assert(offsetof(sc_activity_info, latest_end) == 40, "sc_activity_info");
_Static_assert(offsetof(sc_rest_info, wake) == 80, "sc_rest_info");
_Static_assert(offsetof(sc_group_status, main_push_count) == 120, "sc_group_status");
_Static_assert(offsetof(sc_timeline_entry, to) == 140, "sc_timeline_entry");
_Static_assert(offsetof(sc_timeline_page, damaged_count) == 48, "sc_timeline_page");
