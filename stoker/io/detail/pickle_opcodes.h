// The opcodes of Python's pickles: those that io/pickle.h knows, and the names of the others.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace stoker::detail {

enum class Op : std::uint8_t {
  kMark = '(',
  kEmptyTuple = ')',
  kStop = '.',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kShortBinUnicode = 0x8C,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// Opcodes that no state_dict needs, by Python's names, for messages.
inline constexpr std::array<std::pair<int, std::string_view>, 30> kRefusedOpcodes{
    {{'0', "POP"},
     {'1', "POP_MARK"},
     {'2', "DUP"},
     {'B', "BINBYTES"},
     {'C', "SHORT_BINBYTES"},
     {'F', "FLOAT"},
     {'I', "INT"},
     {'L', "LONG"},
     {'P', "PERSID"},
     {'S', "STRING"},
     {'V', "UNICODE"},
     {'d', "DICT"},
     {'g', "GET"},
     {'i', "INST"},
     {'l', "LIST"},
     {'o', "OBJ"},
     {'p', "PUT"},
     {0x82, "EXT1"},
     {0x83, "EXT2"},
     {0x84, "EXT4"},
     {0x8B, "LONG4"},
     {0x8D, "BINUNICODE8"},
     {0x8E, "BINBYTES8"},
     {0x8F, "EMPTY_SET"},
     {0x90, "ADDITEMS"},
     {0x91, "FROZENSET"},
     {0x92, "NEWOBJ_EX"},
     {0x96, "BYTEARRAY8"},
     {0x97, "NEXT_BUFFER"},
     {0x98, "READONLY_BUFFER"}}};

}  // namespace stoker::detail
