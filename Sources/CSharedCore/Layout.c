// The layout of what a program is compiled with: a change of it is another SC_ABI.

#include "sharedcore.h"

_Static_assert(sizeof(sc_error) == 792, "sc_error");
_Static_assert(sizeof(sc_entry) == 72, "sc_entry");
_Static_assert(sizeof(sc_change) == 152, "sc_change");
_Static_assert(sizeof(sc_event) == 40, "sc_event");
_Static_assert(sizeof(sc_guard) == 32, "sc_guard");
_Static_assert(sizeof(sc_operation) == 56, "sc_operation");
_Static_assert(sizeof(sc_notification) == 32, "sc_notification");
_Static_assert(sizeof(sc_message) == 120, "sc_message");
_Static_assert(sizeof(sc_field) == 16, "sc_field");
_Static_assert(sizeof(sc_listed_message) == 40, "sc_listed_message");
_Static_assert(sizeof(sc_inbox_page) == 24, "sc_inbox_page");
_Static_assert(sizeof(sc_call_info) == 88, "sc_call_info");
_Static_assert(sizeof(sc_call_list) == 16, "sc_call_list");
_Static_assert(sizeof(sc_participant_event) == 80, "sc_participant_event");
